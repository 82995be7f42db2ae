"""The engine: keeps the context and orchestrates the flow between person, model, tools and Trace.

Read `loop.py` first. It knows no vendor, no concrete tool and no screen.
"""
