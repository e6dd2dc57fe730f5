"""Low-rank updates of layers whose weights stay."""

import loralib as lora
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.l = lora.Embedding(10, 6, r=2), lora.Linear(6, 8, r=2, lora_alpha=4)
        self.m, self.c = lora.MergedLinear(8, 9, r=2, enable_lora=[True, False, True]), lora.Conv2d(1, 2, 3, r=1)

    def forward(self, x):
        return self.c(self.m(torch.tanh(self.l(self.e(x)))).unsqueeze(1)).flatten(1)


def program():
    torch.set_default_dtype(torch.float64)
    net = Net()
    lora.mark_only_lora_as_trainable(net, bias="lora_only")
    yield "trained", [n for n, p in net.named_parameters() if p.requires_grad]
    optimizer, x = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=0.05), torch.randint(0, 10, (4, 5))
    for step in range(3):
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        yield f"step {step}", loss
    before = net(x)
    net.eval()
    yield "merged", torch.allclose(net(x), before), net.l.merged, {k: v for k, v in lora.lora_state_dict(net, bias="all").items() if "lora" in k}
    net.train()
    yield "again", torch.allclose(net(x), before)
