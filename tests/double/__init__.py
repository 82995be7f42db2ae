"""A strict stand-in for a provider: a process that speaks four wire protocols over HTTP and plays a script.

`script` is the language; a folder for each protocol has its rules, and in `build` the words to write scripts with, next
to those of `steps`. `client.Double` starts and asks the process, `fixtures` gives it to tests.
"""
