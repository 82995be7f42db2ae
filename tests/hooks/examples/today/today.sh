#!/bin/sh
printf '{"text": "Today is %s."}' "$(date +%A)"
