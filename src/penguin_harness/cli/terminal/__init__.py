"""What the command line draws with: styled spans, a growing screen with a live area, prose, Markdown, keys."""
