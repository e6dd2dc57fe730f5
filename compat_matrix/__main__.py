"""python -m compat_matrix record | verify | run | report | list"""

import argparse
import sys

from compat_matrix.case import load


def parser():
    top = argparse.ArgumentParser(prog="python -m compat_matrix", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    for name, words in [("record", "ask PyTorch about new and changed cases"),
                        ("verify", "ask PyTorch again and compare with what is stored"),
                        ("run", "run the cases under the package"),
                        ("report", "write MATRIX.md"),
                        ("list", "print the ids of the cases")]:
        command = commands.add_parser(name, help=words)
        if name != "report":
            command.add_argument("--only", metavar="AREA", help="an area, or the beginning of an id")
        if name == "record":
            command.add_argument("--all", action="store_true", help="unchanged cases too")
        if name == "run":
            command.add_argument("-v", "--verbose", action="store_true", help="say what differs")
            command.add_argument("--causes", action="store_true", help="group the failures")
    return top


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["names"]:
        from compat_matrix import names
        return names.main(arguments[1:])
    given = parser().parse_args(arguments)
    if given.command == "list":
        print("\n".join(load(given.only)))
        return 0
    if given.command == "report":
        from compat_matrix import report
        return report.main()
    if given.command == "run":
        from compat_matrix import run
        return run.main(given.only, given.verbose, causes=given.causes)
    from compat_matrix import record
    if given.command == "verify":
        return record.verify(given.only)
    return record.main(given.only, given.all)


if __name__ == "__main__":
    sys.exit(main())
