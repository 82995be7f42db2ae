"""A strict stand-in for a provider: a process that speaks Chat Completions over HTTP and plays a script.

`script` is the language, `build` writes it, `client.Double` starts and asks the process, `fixtures` gives it to tests.
"""
