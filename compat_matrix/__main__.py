"""python -m compat_matrix record | verify | run | report | list | names | columns | versions | scan | called | spellings"""

import argparse
import sys

COMMANDS = [("record", "ask PyTorch about new and changed cases"),
            ("verify", "ask PyTorch again and compare with what is stored"),
            ("run", "run the cases, the op table and the names under the package"),
            ("report", "write MATRIX.md and MATRIX.html from the stored results"),
            ("list", "print the ids of the cases")]
OWN = {"names": "every public name and its state; `names record` asks PyTorch",
    "columns": "what the op table is asked beyond values; `columns paths`, then `columns record` ask PyTorch",
       "versions": "what other versions of PyTorch answer; `versions record` asks the one installed", "scan": "which torch names of your sources run",
       "called": "ask PyTorch which cases call which members of Tensor",
       "spellings": "PyTorch's, libtorch's and OneFlow's spellings, row by row; `spellings record` asks PyTorch"}


def parser():
    top = argparse.ArgumentParser(prog="python -m compat_matrix", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    for name, words in COMMANDS:
        command = commands.add_parser(name, help=words)
        if name != "report":
            command.add_argument("--only", metavar="AREA", help="an area, or the beginning of an id")
        if name == "record":
            command.add_argument("--all", action="store_true", help="unchanged cases too")
            command.add_argument("--diff", action="store_true", help="show what changes against the stored answers; with --all also of unchanged cases")
        if name == "run":
            run_options(command)
        if name == "report":
            command.add_argument("--check", action="store_true", help="only say whether the report is stale")
    for name, words in OWN.items():
        commands.add_parser(name, help=words)
    return top


def positive(text):
    """A number of processes."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return int(text)


def run_options(command):
    command.add_argument("-v", "--verbose", action="store_true", help="say what differs")
    command.add_argument("--causes", action="store_true", help="group the failures")
    command.add_argument("--device", metavar="D", help="where JAX runs and the tensors of the op table lie: cpu, cuda or tpu")
    command.add_argument("--jobs", type=positive, metavar="N", help="processes (default: 1, with --quick 2)")
    command.add_argument("--quick", action="store_true", help="a spread of everything that takes under three minutes")
    command.add_argument("--json", metavar="FILE", help="write the results there")
    command.add_argument("--resume", action="store_true", help="take up an interrupted run of the same sources")
    command.add_argument("--progress", action=argparse.BooleanOptionalAction, default=None, help="the progress line (default: on a terminal)")


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in OWN:
        import importlib
        return importlib.import_module(f"compat_matrix.{arguments[0]}").main(arguments[1:])
    given = parser().parse_args(arguments)
    if given.command == "list":
        from compat_matrix import work
        print("\n".join(work.ids(given.only)))
        return 0
    if given.command == "report":
        from compat_matrix import report
        return report.check() if given.check else report.main()
    if given.command == "run":
        from compat_matrix import run
        return run.main(given.only, given.verbose, causes=given.causes, jobs=given.jobs, quick=given.quick, resume=given.resume, device=given.device,
                        file=given.json, progress=given.progress)
    from compat_matrix import record
    if given.command == "verify":
        return record.verify(given.only)
    return record.main(given.only, given.all, given.diff)


if __name__ == "__main__":
    sys.exit(main())
