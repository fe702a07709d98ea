"""Run the command line by `python -m verify`."""

from verify.reports.command_line import main

main()
