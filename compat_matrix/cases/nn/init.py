"""Values of parameters for a seed."""

from compat_matrix.cases.nn.script import script

script("nn.init.sp", """
I = nn.init
for n in ('uniform_', 'normal_', 'trunc_normal_', 'xavier_uniform_', 'xavier_normal_', 'kaiming_uniform_', 'kaiming_normal_', 'orthogonal_', 'eye_', 'zeros_', 'ones_'):
    torch.manual_seed(1)
    look(n, lambda: getattr(I, n)(torch.empty(3, 4)))
torch.manual_seed(1)
look('sp', lambda: I.sparse_(torch.empty(4, 3), 0.4))
torch.manual_seed(1)
look('orth', lambda: I.orthogonal_(torch.empty(4, 3), 2))
look('dirac', lambda: I.dirac_(torch.empty(4, 2, 3), 2))
look('gain', lambda: [I.calculate_gain(x) for x in ('linear', 'tanh', 'relu', 'leaky_relu', 'selu', 'conv2d')])
look('gain2', lambda: I.calculate_gain('leaky_relu', 0.2))
look('gainbad', lambda: I.calculate_gain('x'))
look('gainbad', lambda: I.calculate_gain('leaky_relu', 'x'))
look('gainbad', lambda: I.calculate_gain('leaky_relu', True))
look('tn half', lambda: (torch.manual_seed(0), I.trunc_normal_(torch.empty(3), 0.0, 0.02))[1])
look('tn big', lambda: (torch.manual_seed(0), I.trunc_normal_(torch.empty(2000), 0.0, 1.0).double().sum())[1])
""")

script("nn.init.kz", """
I = nn.init
look('kz', lambda: I.kaiming_uniform_(torch.empty(0, 3)))
look('kz', lambda: I.kaiming_normal_(torch.empty(2, 3), mode='foo'))
look('f', lambda: I.xavier_uniform_(torch.empty(3)))
look('e', lambda: I.eye_(torch.empty(3)))
look('d', lambda: I.dirac_(torch.empty(3)))
look('d', lambda: I.dirac_(torch.empty(3, 2, 2), 2))
look('o', lambda: I.orthogonal_(torch.empty(3)))
look('s', lambda: I.sparse_(torch.empty(3), 0.1))
look('old', lambda: I.uniform(torch.empty(1)))
look('xe', lambda: I.xavier_normal_(torch.empty(0, 3)))
look('const', lambda: I.constant_(torch.empty(2), 3))
look('gen', lambda: I.normal_(torch.empty(2), generator=torch.Generator().manual_seed(3)))
look('fan', lambda: I._calculate_fan_in_and_fan_out(torch.empty(2, 3, 4)))
look('kz2', lambda: I.kaiming_uniform_(torch.empty(2, 3), nonlinearity='zzz'))
look('ret', lambda: I.ones_(nn.Parameter(torch.empty(2))))
look('neg', lambda: I.normal_(torch.empty(2), 0, -1))
look('unif', lambda: I.uniform_(torch.empty(2), 2, 1))
look('unif int', lambda: I.uniform_(torch.empty(2).long()))
look('k', lambda: I._calculate_correct_fan(torch.empty(2, 3), 'FAN_OUT'))
""")

script("nn.init.trunc_normal in a tail", """
look('far', lambda: nn.init.trunc_normal_(torch.empty(3), 10.0))
""")

script("nn.init.trunc_normal in tails", """
for i, (mean, std, low, high) in enumerate([(0, 1, 3, 4), (0, 1, -20, -2), (0, 1, 8, 9), (0, 2, 3, 30), (10, 1, 0, 1), (0, 0.05, -2, -1), (0, 1, 10, 20)]):
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(i)
        look(f'{i} {dtype}', lambda: nn.init.trunc_normal_(torch.empty(5, dtype=dtype), mean, std, low, high))
        look(f'{i} {dtype} next', lambda: torch.rand(1))
""")

script("nn.init.trunc_normal", """
for i, (low, high) in enumerate([(-1, 1), (-2, 2), (0.5, 10), (1, 2), (-0.1, 0.1), (3, 3.3)]):
    look(str(i), lambda: nn.init.trunc_normal_(torch.empty(6), 0.0, 1.0, low, high))
    look(f'{i} double', lambda: nn.init.trunc_normal_(torch.empty(20, dtype=torch.float64), 0.0, 1.0, low, high))
""")
