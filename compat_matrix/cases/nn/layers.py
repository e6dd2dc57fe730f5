"""Layers: reprs and attributes; values, gradients and parameters' gradients for one input each; train and eval."""

from compat_matrix.case import case
from compat_matrix.cases.nn.script import plain, script

LAYERS = [
    'Threshold(0.1,20)',
    'Threshold(0.1,20,True)',
    'ReLU()',
    'ReLU(True)',
    'RReLU()',
    'RReLU(0.1,0.2,True)',
    'Hardtanh()',
    'Hardtanh(-2,2,True)',
    'ReLU6()',
    'ReLU6(True)',
    'Sigmoid()',
    'Hardsigmoid(True)',
    'Hardswish(True)',
    'Tanh()',
    'SiLU()',
    'SiLU(True)',
    'Mish(True)',
    'ELU(2.,True)',
    'ELU()',
    'CELU()',
    'CELU(2.,True)',
    'SELU()',
    'SELU(True)',
    'GLU()',
    'GELU()',
    "GELU('tanh')",
    'Hardshrink()',
    'LeakyReLU()',
    'LeakyReLU(0.2,True)',
    'LogSigmoid()',
    'Softplus()',
    'Softplus(2,10)',
    'Softshrink()',
    'PReLU()',
    'PReLU(3)',
    'Softsign()',
    'Tanhshrink()',
    'Softmin()',
    'Softmin(1)',
    'Softmax()',
    'Softmax(1)',
    'Softmax2d()',
    'LogSoftmax(1)',
    'MultiheadAttention(4,2)',
    'Dropout()',
    'Dropout(0.2,True)',
    'Dropout1d()',
    'Dropout2d()',
    'Dropout3d()',
    'AlphaDropout()',
    'FeatureAlphaDropout()',
    'Linear(2,3)',
    'Linear(2,3,bias=False)',
    'Bilinear(2,3,4)',
    'Identity()',
    'Embedding(3,4)',
    'Embedding(3,4,1,2.,1.,True,True)',
    'EmbeddingBag(3,4)',
    "EmbeddingBag(3,4,2.,1.,True,'sum',True,include_last_offset=True,padding_idx=1)",
    'LayerNorm(3)',
    'LayerNorm((2,3),1e-3,False)',
    'LayerNorm(3,bias=False)',
    'BatchNorm1d(3)',
    'BatchNorm2d(3,1e-3,None,False,False)',
    'BatchNorm3d(3,bias=False)',
    'SyncBatchNorm(3)',
    'GroupNorm(1,2)',
    'GroupNorm(1,2,affine=False)',
    'InstanceNorm1d(3)',
    'InstanceNorm2d(3,affine=True,track_running_stats=True)',
    'RMSNorm(3)',
    'RMSNorm((2,3),1e-3,False)',
    'LocalResponseNorm(2)',
    'LocalResponseNorm(2,1,2,3)',
    'CrossMapLRN2d(2)',
    'Conv1d(1,2,3)',
    "Conv2d(2,4,3,2,1,2,2,False,'circular')",
    "Conv2d(1,2,(3,4),padding='same')",
    'Conv3d(1,2,3,padding=1)',
    'ConvTranspose1d(1,2,3)',
    'ConvTranspose2d(2,4,3,2,1,1,2,False,2)',
    'ConvTranspose3d(1,2,3)',
    'MaxPool1d(2)',
    'MaxPool2d(2,1,1,2,True,True)',
    'MaxPool3d((1,2,3))',
    'AvgPool1d(2)',
    'AvgPool2d(2,1,1,True,False,3)',
    'AvgPool3d(2)',
    'MaxUnpool1d(2)',
    'MaxUnpool2d(2,1,1)',
    'MaxUnpool3d(2)',
    'LPPool1d(2,3)',
    'LPPool2d(2,3,1,True)',
    'LPPool3d(2,3)',
    'AdaptiveAvgPool1d(2)',
    'AdaptiveAvgPool2d((2,None))',
    'AdaptiveAvgPool3d(1)',
    'AdaptiveMaxPool1d(2)',
    'AdaptiveMaxPool2d(2,True)',
    'AdaptiveMaxPool3d((1,2,3))',
    'FractionalMaxPool2d(2,output_size=3)',
    'FractionalMaxPool3d(2,output_ratio=0.5)',
    'ConstantPad1d(2,3.5)',
    'ConstantPad2d((1,2,3,4),0)',
    'ConstantPad3d(1,0)',
    'ReflectionPad1d(2)',
    'ReflectionPad2d(2)',
    'ReflectionPad3d(1)',
    'ReplicationPad1d(1)',
    'ReplicationPad2d((1,2,3,4))',
    'ReplicationPad3d(1)',
    'ZeroPad1d(1)',
    'ZeroPad2d(2)',
    'ZeroPad3d(1)',
    'CircularPad1d(1)',
    'CircularPad2d(1)',
    'CircularPad3d(1)',
    'Flatten()',
    'Flatten(0,2)',
    'Unflatten(1,(2,3))',
    'Unflatten(1,torch.Size([2,3]))',
    'RNN(2,3)',
    "RNN(2,3,2,nonlinearity='relu',bias=False,batch_first=True,dropout=0.1,bidirectional=True)",
    'LSTM(2,3)',
    'LSTM(2,3,2,proj_size=1)',
    'GRU(2,3,bidirectional=True)',
    'RNNCell(2,3)',
    "RNNCell(2,3,False,'relu')",
    'LSTMCell(2,3)',
    'GRUCell(2,3,bias=False)',
    'TransformerEncoderLayer(4,2,8)',
    "TransformerDecoderLayer(4,2,8,norm_first=True,activation='gelu',bias=False)",
    'TransformerEncoder(nn.TransformerEncoderLayer(4,2,8),1)',
    'TransformerDecoder(nn.TransformerDecoderLayer(4,2,8),2,nn.LayerNorm(4))',
    'Upsample(2)',
    "Upsample(scale_factor=2,mode='bilinear',align_corners=True)",
    'Upsample(scale_factor=(2,3))',
    'UpsamplingNearest2d(2)',
    'UpsamplingBilinear2d(scale_factor=2)',
    'PixelShuffle(2)',
    'PixelUnshuffle(2)',
    'ChannelShuffle(2)',
    'Fold(2,3)',
    'Unfold(2,1,(1,2),3)',
    'CosineSimilarity()',
    'CosineSimilarity(0,1e-3)',
    'PairwiseDistance()',
    'PairwiseDistance(1.,1e-3,True)',
    'AdaptiveLogSoftmaxWithLoss(8,10,[2,5])',
    'L1Loss()',
    'MSELoss()',
    'CrossEntropyLoss(torch.ones(2))',
    'NLLLoss()',
    'NLLLoss2d()',
    'PoissonNLLLoss()',
    'GaussianNLLLoss()',
    'KLDivLoss()',
    'BCELoss()',
    'BCEWithLogitsLoss()',
    'MarginRankingLoss()',
    'HingeEmbeddingLoss()',
    'MultiLabelMarginLoss()',
    'HuberLoss()',
    'SmoothL1Loss()',
    'SoftMarginLoss()',
    'CosineEmbeddingLoss()',
    'MultiMarginLoss()',
    'TripletMarginLoss()',
    'TripletMarginWithDistanceLoss()',
    'MultiLabelSoftMarginLoss()',
    'CTCLoss()',
]


@case("nn.layers.printed")
def _(torch):
    for text in LAYERS:
        module = eval(text, {"torch": torch, "nn": torch.nn, **{n: getattr(torch.nn, n) for n in [text.partition("(")[0]]}})
        public = {k: v for k, v in vars(module).items() if not k.startswith("_") and not callable(v)}
        yield text, repr(module), plain(torch, sorted(public.items())), [(n, tuple(p.shape)) for n, p in module.named_parameters()], [n for n, _ in module.named_buffers()]


def applied(torch, make, inputs):
    """A layer from a seed, its result and gradients in training, its result in evaluation, its state afterwards."""
    env = {"torch": torch, "nn": torch.nn}
    torch.manual_seed(3)
    module = eval(f"nn.{make}", env)
    args = eval(f"({inputs},)", env)
    result = module(*args)
    yield "train", plain(torch, result)
    first = result[0] if isinstance(result, tuple) else result
    if first.requires_grad and first.numel():
        wanted = [t for t in [*args, *module.parameters()] if isinstance(t, torch.Tensor) and t.requires_grad]
        yield "gradients", torch.autograd.grad((first * torch.arange(1.0, first.numel() + 1).reshape(first.shape)).sum(), wanted, allow_unused=True)
    yield "state", dict(module.state_dict())
    yield "eval", plain(torch, module.eval()(*[a.detach() if isinstance(a, torch.Tensor) else a for a in args]))


for make, inputs in [
    ('Threshold(0.1,20)', 'torch.randn(2, 3, requires_grad=True)'),
    ('Threshold(0.1,20,True)', 'torch.randn(2, 3)'),
    ('ReLU()', 'torch.randn(2, 3, requires_grad=True)'),
    ('ReLU(True)', 'torch.randn(2, 3)'),
    ('RReLU()', 'torch.randn(2, 3, requires_grad=True)'),
    ('RReLU(0.1,0.2,True)', 'torch.randn(2, 3)'),
    ('Hardtanh()', 'torch.randn(2, 3, requires_grad=True)'),
    ('Hardtanh(-2,2,True)', 'torch.randn(2, 3)'),
    ('ReLU6()', 'torch.randn(2, 3, requires_grad=True)'),
    ('ReLU6(True)', 'torch.randn(2, 3)'),
    ('Sigmoid()', 'torch.randn(2, 3, requires_grad=True)'),
    ('Hardsigmoid(True)', 'torch.randn(2, 3)'),
    ('Hardswish(True)', 'torch.randn(2, 3)'),
    ('Tanh()', 'torch.randn(2, 3, requires_grad=True)'),
    ('SiLU()', 'torch.randn(2, 3, requires_grad=True)'),
    ('SiLU(True)', 'torch.randn(2, 3)'),
    ('Mish(True)', 'torch.randn(2, 3)'),
    ('ELU(2.,True)', 'torch.randn(2, 3)'),
    ('ELU()', 'torch.randn(2, 3, requires_grad=True)'),
    ('CELU()', 'torch.randn(2, 3, requires_grad=True)'),
    ('CELU(2.,True)', 'torch.randn(2, 3)'),
    ('SELU()', 'torch.randn(2, 3, requires_grad=True)'),
    ('SELU(True)', 'torch.randn(2, 3)'),
    ('GLU()', 'torch.randn(2, 4, requires_grad=True)'),
    ('GELU()', 'torch.randn(2, 3, requires_grad=True)'),
    ("GELU('tanh')", 'torch.randn(2, 3, requires_grad=True)'),
    ('Hardshrink()', 'torch.randn(2, 3, requires_grad=True)'),
    ('LeakyReLU()', 'torch.randn(2, 3, requires_grad=True)'),
    ('LeakyReLU(0.2,True)', 'torch.randn(2, 3)'),
    ('LogSigmoid()', 'torch.randn(2, 3, requires_grad=True)'),
    ('Softplus()', 'torch.randn(2, 3, requires_grad=True)'),
    ('Softplus(2,10)', 'torch.randn(2, 3, requires_grad=True)'),
    ('Softshrink()', 'torch.randn(2, 3, requires_grad=True)'),
    ('PReLU()', 'torch.randn(2, 3, requires_grad=True)'),
    ('PReLU(3)', 'torch.randn(2, 3, requires_grad=True)'),
    ('Softsign()', 'torch.randn(2, 3, requires_grad=True)'),
    ('Tanhshrink()', 'torch.randn(2, 3, requires_grad=True)'),
    ('Softmin(1)', 'torch.randn(2, 3, requires_grad=True)'),
    ('Softmax(1)', 'torch.randn(2, 3, requires_grad=True)'),
    ('Softmax2d()', 'torch.randn(1, 2, 3, 3, requires_grad=True)'),
    ('LogSoftmax(1)', 'torch.randn(2, 3, requires_grad=True)'),
    ('Dropout()', 'torch.randn(3, 3, 3, 3, requires_grad=True)'),
    ('Dropout(0.2,True)', 'torch.randn(2, 3)'),
    ('Dropout1d()', 'torch.randn(3, 3, 3, requires_grad=True)'),
    ('Dropout2d()', 'torch.randn(3, 3, 3, 3, requires_grad=True)'),
    ('Dropout3d()', 'torch.randn(3, 3, 3, 3, 3, requires_grad=True)'),
    ('AlphaDropout()', 'torch.randn(2, 3, requires_grad=True)'),
    ('FeatureAlphaDropout()', 'torch.randn(3, 3, 3, 3, requires_grad=True)'),
    ('Linear(2,3)', 'torch.randn(3, 2, requires_grad=True)'),
    ('Linear(2,3,bias=False)', 'torch.randn(3, 2, requires_grad=True)'),
    ('Bilinear(2,3,4)', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 3)'),
    ('Identity()', 'torch.randn(2, 3, requires_grad=True)'),
    ('Embedding(3,4)', 'torch.tensor([[0, 2], [1, 1]])'),
    ('Embedding(3,4,1,2.,1.,True)', 'torch.tensor([[0, 2], [1, 1]])'),
    ('EmbeddingBag(3,4)', 'torch.tensor([[0, 2], [1, 1]])'),
    ("EmbeddingBag(3,4,2.,1.,True,'sum',False,include_last_offset=True,padding_idx=1)", 'torch.tensor([[0, 2], [1, 1]])'),
    ('LayerNorm(3)', 'torch.randn(2, 2, 3, requires_grad=True)'),
    ('LayerNorm((2,3),1e-3,False)', 'torch.randn(2, 2, 3, requires_grad=True)'),
    ('LayerNorm(3,bias=False)', 'torch.randn(2, 2, 3, requires_grad=True)'),
    ('BatchNorm1d(3)', 'torch.randn(4, 3, 2, requires_grad=True)'),
    ('BatchNorm2d(3,1e-3,None,False,False)', 'torch.randn(4, 3, 2, 2, requires_grad=True)'),
    ('BatchNorm3d(3,bias=False)', 'torch.randn(4, 3, 2, 2, 2, requires_grad=True)'),
    ('SyncBatchNorm(3)', 'torch.randn(4, 3, 2, requires_grad=True)'),
    ('GroupNorm(1,2)', 'torch.randn(2, 2, 3, requires_grad=True)'),
    ('GroupNorm(1,2,affine=False)', 'torch.randn(2, 2, 3, requires_grad=True)'),
    ('InstanceNorm1d(3)', 'torch.randn(4, 3, 2, requires_grad=True)'),
    ('InstanceNorm2d(3,affine=True,track_running_stats=True)', 'torch.randn(4, 3, 2, 2, requires_grad=True)'),
    ('RMSNorm(3)', 'torch.randn(2, 2, 3, requires_grad=True)'),
    ('RMSNorm((2,3),1e-3,False)', 'torch.randn(2, 2, 3, requires_grad=True)'),
    ('LocalResponseNorm(2)', 'torch.randn(1, 4, 3, 3, requires_grad=True)'),
    ('LocalResponseNorm(2,1,2,3)', 'torch.randn(1, 4, 3, 3, requires_grad=True)'),
    ('CrossMapLRN2d(2)', 'torch.randn(1, 4, 3, 3, requires_grad=True)'),
    ('Conv1d(1,2,3)', 'torch.arange(8.).reshape(1, 1, 8) / 50'),
    ("Conv2d(2,4,3,2,1,2,2,False,'circular')", 'torch.arange(128.).reshape(1, 2, 8, 8) / 50'),
    ("Conv2d(1,2,(3,4),padding='same')", 'torch.arange(64.).reshape(1, 1, 8, 8) / 50'),
    ('Conv3d(1,2,3,padding=1)', 'torch.arange(512.).reshape(1, 1, 8, 8, 8) / 50'),
    ('ConvTranspose1d(1,2,3)', 'torch.arange(8.).reshape(1, 1, 8) / 50'),
    ('ConvTranspose2d(2,4,3,2,1,1,2,False,2)', 'torch.arange(128.).reshape(1, 2, 8, 8) / 50'),
    ('ConvTranspose3d(1,2,3)', 'torch.arange(512.).reshape(1, 1, 8, 8, 8) / 50'),
    ('MaxPool1d(2)', 'torch.randn(1, 2, 7, requires_grad=True)'),
    ('MaxPool2d(2,1,1,2,True,True)', 'torch.randn(1, 2, 7, 7, requires_grad=True)'),
    ('MaxPool3d((1,2,3))', 'torch.randn(1, 2, 7, 7, 7, requires_grad=True)'),
    ('AvgPool1d(2)', 'torch.randn(1, 2, 7, requires_grad=True)'),
    ('AvgPool2d(2,1,1,True,False,3)', 'torch.randn(1, 2, 7, 7, requires_grad=True)'),
    ('AvgPool3d(2)', 'torch.randn(1, 2, 7, 7, 7, requires_grad=True)'),
    ('LPPool1d(2,3)', 'torch.randn(1, 2, 7, requires_grad=True)'),
    ('LPPool2d(2,3,1,True)', 'torch.randn(1, 2, 7, 7, requires_grad=True)'),
    ('LPPool3d(2,3)', 'torch.randn(1, 2, 7, 7, 7, requires_grad=True)'),
    ('AdaptiveAvgPool1d(2)', 'torch.randn(1, 2, 7, requires_grad=True)'),
    ('AdaptiveAvgPool2d((2,None))', 'torch.randn(1, 2, 7, 7, requires_grad=True)'),
    ('AdaptiveAvgPool3d(1)', 'torch.randn(1, 2, 7, 7, 7, requires_grad=True)'),
    ('AdaptiveMaxPool1d(2)', 'torch.randn(1, 2, 7, requires_grad=True)'),
    ('AdaptiveMaxPool2d(2,True)', 'torch.randn(1, 2, 7, 7, requires_grad=True)'),
    ('AdaptiveMaxPool3d((1,2,3))', 'torch.randn(1, 2, 7, 7, 7, requires_grad=True)'),
    ('FractionalMaxPool2d(2,output_size=3)', 'torch.randn(1, 2, 7, 7, requires_grad=True)'),
    ('FractionalMaxPool3d(2,output_ratio=0.5)', 'torch.randn(1, 2, 7, 7, 7, requires_grad=True)'),
    ('ConstantPad1d(2,3.5)', 'torch.randn(1, 2, 6, requires_grad=True)'),
    ('ConstantPad2d((1,2,3,4),0)', 'torch.randn(1, 2, 6, 6, requires_grad=True)'),
    ('ConstantPad3d(1,0)', 'torch.randn(1, 2, 6, 6, 6, requires_grad=True)'),
    ('ReflectionPad1d(2)', 'torch.randn(1, 2, 6, requires_grad=True)'),
    ('ReflectionPad2d(2)', 'torch.randn(1, 2, 6, 6, requires_grad=True)'),
    ('ReflectionPad3d(1)', 'torch.randn(1, 2, 6, 6, 6, requires_grad=True)'),
    ('ReplicationPad1d(1)', 'torch.randn(1, 2, 6, requires_grad=True)'),
    ('ReplicationPad2d((1,2,3,4))', 'torch.randn(1, 2, 6, 6, requires_grad=True)'),
    ('ReplicationPad3d(1)', 'torch.randn(1, 2, 6, 6, 6, requires_grad=True)'),
    ('ZeroPad1d(1)', 'torch.randn(1, 2, 6, requires_grad=True)'),
    ('ZeroPad2d(2)', 'torch.randn(1, 2, 6, 6, requires_grad=True)'),
    ('ZeroPad3d(1)', 'torch.randn(1, 2, 6, 6, 6, requires_grad=True)'),
    ('CircularPad1d(1)', 'torch.randn(1, 2, 6, requires_grad=True)'),
    ('CircularPad2d(1)', 'torch.randn(1, 2, 6, 6, requires_grad=True)'),
    ('CircularPad3d(1)', 'torch.randn(1, 2, 6, 6, 6, requires_grad=True)'),
    ('Flatten()', 'torch.randn(2, 3, 4, requires_grad=True)'),
    ('Flatten(0,2)', 'torch.randn(2, 3, 4, requires_grad=True)'),
    ('Unflatten(1,(2,3))', 'torch.randn(2, 6, requires_grad=True)'),
    ('Unflatten(1,torch.Size([2,3]))', 'torch.randn(2, 6, requires_grad=True)'),
    ('Upsample(2)', 'torch.randn(1, 1, 3, 3, requires_grad=True)'),
    ("Upsample(scale_factor=2,mode='bilinear',align_corners=True)", 'torch.randn(1, 1, 3, 3, requires_grad=True)'),
    ('Upsample(scale_factor=(2,3))', 'torch.randn(1, 1, 3, 3, requires_grad=True)'),
    ('UpsamplingNearest2d(2)', 'torch.randn(1, 1, 3, 3, requires_grad=True)'),
    ('UpsamplingBilinear2d(scale_factor=2)', 'torch.randn(1, 1, 3, 3, requires_grad=True)'),
    ('PixelShuffle(2)', 'torch.randn(1, 4, 2, 2, requires_grad=True)'),
    ('PixelUnshuffle(2)', 'torch.randn(1, 1, 4, 4, requires_grad=True)'),
    ('ChannelShuffle(2)', 'torch.randn(1, 4, 2, 2, requires_grad=True)'),
    ('Fold(4, 3)', 'torch.randn(1, 18, 4, requires_grad=True)'),
    ('Unfold(2,1,(1,2),3)', 'torch.randn(1, 2, 5, 5, requires_grad=True)'),
    ('CosineSimilarity()', 'torch.randn(3, 3, requires_grad=True), torch.randn(3, 3)'),
    ('CosineSimilarity(0,1e-3)', 'torch.randn(3, 3, requires_grad=True), torch.randn(3, 3)'),
    ('PairwiseDistance()', 'torch.randn(3, 3, requires_grad=True), torch.randn(3, 3)'),
    ('PairwiseDistance(1.,1e-3,True)', 'torch.randn(3, 3, requires_grad=True), torch.randn(3, 3)'),
    ('AdaptiveLogSoftmaxWithLoss(8,10,[2,5])', 'torch.randn(4, 8, requires_grad=True), torch.tensor([0, 3, 9, 5])'),
    ('L1Loss()', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 2)'),
    ('MSELoss()', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 2)'),
    ('CrossEntropyLoss(torch.ones(2))', 'torch.randn(3, 2, requires_grad=True), torch.tensor([0, 1, 1])'),
    ('NLLLoss()', 'torch.randn(3, 2, requires_grad=True), torch.tensor([0, 1, 1])'),
    ('NLLLoss2d()', 'torch.randn(3, 2, requires_grad=True), torch.tensor([0, 1, 1])'),
    ('PoissonNLLLoss()', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 2)'),
    ('GaussianNLLLoss()', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 2), torch.rand(3, 2)'),
    ('KLDivLoss()', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 2)'),
    ('BCELoss()', 'torch.rand(3, 2, requires_grad=True), torch.rand(3, 2)'),
    ('BCEWithLogitsLoss()', 'torch.randn(3, 2, requires_grad=True), torch.rand(3, 2)'),
    ('MarginRankingLoss()', 'torch.randn(3, requires_grad=True), torch.randn(3), torch.tensor([1., -1., 1.])'),
    ('HingeEmbeddingLoss()', 'torch.randn(3, requires_grad=True), torch.tensor([1., -1., 1.])'),
    ('MultiLabelMarginLoss()', 'torch.randn(1, 4, requires_grad=True), torch.tensor([[3, 0, -1, 1]])'),
    ('HuberLoss()', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 2)'),
    ('SmoothL1Loss()', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 2)'),
    ('SoftMarginLoss()', 'torch.randn(3, requires_grad=True), torch.tensor([1., -1., 1.])'),
    ('CosineEmbeddingLoss()', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 2), torch.tensor([1., -1., 1.])'),
    ('MultiMarginLoss()', 'torch.randn(3, 2, requires_grad=True), torch.tensor([0, 1, 1])'),
    ('TripletMarginLoss()', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 2), torch.randn(3, 2)'),
    ('TripletMarginWithDistanceLoss()', 'torch.randn(3, 2, requires_grad=True), torch.randn(3, 2), torch.randn(3, 2)'),
    ('MultiLabelSoftMarginLoss()', 'torch.randn(3, 2, requires_grad=True), torch.rand(3, 2).round()'),
    ('CTCLoss()', 'torch.randn(5, 2, 3).log_softmax(2).requires_grad_(), torch.tensor([[1, 2], [2, 1]]), [5, 4], [2, 1]'),
]:
    case(f"nn.layers.{make}", make=make, inputs=inputs)(applied)

script("nn.layers.refused", """
look('groups', lambda: nn.Conv2d(2, 2, 3, groups=0))
look('groups in', lambda: nn.Conv2d(3, 2, 3, groups=2))
look('groups out', lambda: nn.Conv2d(2, 3, 3, groups=2))
look('same strided', lambda: nn.Conv2d(2, 2, 3, stride=2, padding='same'))
look('transposed mode', lambda: nn.ConvTranspose2d(2, 2, 3, padding_mode='reflect'))
look('group norm', lambda: nn.GroupNorm(2, 3))
look('batch norm 1', lambda: nn.BatchNorm1d(3)(torch.ones(3)))
look('batch norm 2', lambda: nn.BatchNorm2d(3)(torch.ones(3, 3)))
look('batch norm 3', lambda: nn.BatchNorm3d(3)(torch.ones(3, 3)))
look('sync', lambda: nn.SyncBatchNorm(3)(torch.ones(3)))
look('instance 1', lambda: nn.InstanceNorm1d(3)(torch.ones(3)))
look('instance 2', lambda: nn.InstanceNorm2d(3)(torch.ones(3, 3)))
look('instance 3', lambda: nn.InstanceNorm3d(3, affine=True)(torch.ones(1, 2, 3, 3, 3)))
look('dropout', lambda: nn.Dropout(1.5))
look('dropout negative', lambda: nn.Dropout2d(-0.1))
look('hardtanh', lambda: nn.Hardtanh(1, 1))
look('hardtanh old', lambda: nn.Hardtanh(min_value=-2, max_value=3))
look('softmax2d', lambda: nn.Softmax2d()(torch.ones(2, 2)))
look('unflatten', lambda: nn.Unflatten(1, 3))
look('unflatten float', lambda: nn.Unflatten(1, (2, 3.0)))
look('unflatten dim', lambda: nn.Unflatten(1.5, (2, 3)))
look('unflatten name', lambda: nn.Unflatten('a', (2, 3)))
look('bilinear', lambda: nn.Bilinear(0, 2, 3))
look('embedding padding', lambda: nn.Embedding(3, 2, 3))
look('embedding padding negative', lambda: nn.Embedding(3, 2, -4))
look('embedding padding last', lambda: nn.Embedding(3, 2, -1))
look('embedding weight', lambda: nn.Embedding(3, 2, _weight=torch.ones(2, 2)))
look('pretrained', lambda: nn.Embedding.from_pretrained(torch.ones(2)))
look('pretrained frozen', lambda: nn.Embedding.from_pretrained(torch.ones(2, 2)).weight.requires_grad)
look('pretrained bag', lambda: nn.EmbeddingBag.from_pretrained(torch.ones(2, 2), freeze=False).weight)
look('multi margin', lambda: nn.MultiMarginLoss(p=3))
look('multi margin weight', lambda: nn.MultiMarginLoss(weight=torch.ones(1, 1)))
look('triplet', lambda: nn.TripletMarginLoss(margin=0))
look('triplet distance', lambda: nn.TripletMarginWithDistanceLoss(margin=-1))
look('reduce', lambda: nn.MSELoss(size_average=False).reduction)
look('reduce none', lambda: nn.MSELoss(reduce=False).reduction)
look('cutoffs', lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2]))
look('cutoffs empty', lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, []))
look('adaptive range', lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])(torch.ones(1, 4), torch.tensor([7])))
look('adaptive sizes', lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])(torch.ones(2, 4), torch.tensor([1])))
look('adaptive log_prob', lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2], div_value=2.).log_prob(torch.ones(2, 4)))
look('adaptive predict', lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2], div_value=2.).predict(torch.randn(3, 4)))
look('fractional', lambda: nn.FractionalMaxPool2d(2))
look('fractional both', lambda: nn.FractionalMaxPool2d(2, output_size=2, output_ratio=.5))
look('fractional ratio', lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5))
look('circular', lambda: nn.CircularPad1d(1)(torch.ones(2)))
look('linear positional', lambda: nn.Linear(2))
look('linear zero', lambda: nn.Linear(0, 2).weight)
look('linear shape', lambda: nn.Linear(2, 3)(torch.ones(3)))
look('linear dtype', lambda: nn.Linear(2, 3, dtype=torch.float64)(torch.ones(1, 2, dtype=torch.float64)).dtype)
look('norm shape', lambda: nn.LayerNorm(3, device='cpu', dtype=torch.float64).weight)
look('factory', lambda: nn.factory_kwargs({'device': 'cpu', 'x': 1}))
look('factory twice', lambda: nn.factory_kwargs({'device': 'cpu', 'factory_kwargs': {'device': 'cpu'}}))
look('container', lambda: nn.Container(a=nn.ReLU()))
look('sync converted', lambda: nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(2), nn.ReLU())))
""")

script("nn.layers.paths", """
look('parts', lambda: [hasattr(nn.modules, n) for n in ('module', 'linear', 'conv', 'container', 'rnn', 'batchnorm', 'utils', 'loss', 'sparse', 'lazy')])
look('pairs', lambda: [nn.modules.utils._pair(3), nn.modules.utils._triple((1, 2, 3)), nn.modules.utils._single(2), nn.modules.utils._reverse_repeat_tuple((1, 2), 2)])
look('names', lambda: [nn.modules.batchnorm._BatchNorm.__name__, nn.modules.conv._ConvNd.__name__, nn.modules.loss._Loss.__name__, nn.modules.dropout._DropoutNd.__name__])
look('prefix', lambda: (d := {'module.a': 1, 'b': 2}, nn.modules.utils.consume_prefix_in_state_dict_if_present(d, 'module.'), d)[0])
look('all', lambda: sorted(set(nn.modules.__all__) - {'LinearCrossEntropyLoss', 'LinearCrossEntropyOptions'}))
look('subclasses', lambda: [issubclass(nn.Conv2d, nn.modules.conv._ConvNd), issubclass(nn.BatchNorm1d, nn.modules.batchnorm._NormBase), issubclass(nn.LSTM, nn.RNNBase)])
""")

script("nn.layers.parallel", """
look('data', lambda: nn.DataParallel(nn.Linear(2, 3)))
look('called', lambda: nn.DataParallel(nn.Linear(2, 3))(torch.ones(1, 2)))
look('state', lambda: nn.DataParallel(nn.Linear(2, 3)).state_dict().keys())
look('given', lambda: nn.DataParallel(nn.Linear(2, 3), device_ids=[0]).device_ids)
look('distributed', lambda: nn.parallel.DistributedDataParallel(nn.Linear(1, 1)))
look('types', lambda: [hasattr(nn.common_types, n) for n in ('_size_1_t', '_size_2_t', '_size_any_t', '_ratio_2_t')])
""")

script("nn.layers.gradients of convolutions", """
x, w = torch.randn(1, 2, 6), torch.randn(3, 2, 3)
look('input', lambda: nn.grad.conv1d_input(x.shape, w, torch.ones(1, 3, 4)))
look('weight', lambda: nn.grad.conv1d_weight(x, w.shape, torch.ones(1, 3, 2), stride=3, padding=1))
look('input 2', lambda: nn.grad.conv2d_input((1, 1, 4, 4), torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2)))
look('weight 2', lambda: nn.grad.conv2d_weight(torch.ones(1, 1, 4, 4), (1, 1, 3, 3), torch.ones(1, 1, 2, 2)))
""")

script("nn.layers.fused", """
bn = nn.BatchNorm1d(3).eval()
bn.running_mean.copy_(torch.tensor([1.0, 2.0, 3.0]))
bn.running_var.copy_(torch.tensor([4.0, 1.0, 9.0]))
look('linear', lambda: torch.nn.utils.fusion.fuse_linear_bn_eval(nn.Linear(2, 3).eval(), bn).state_dict())
look('convolution', lambda: torch.nn.utils.fusion.fuse_conv_bn_eval(nn.Conv1d(2, 3, 2).eval(), bn).state_dict())
look('training', lambda: torch.nn.utils.fusion.fuse_linear_bn_eval(nn.Linear(2, 3), bn))
""")
