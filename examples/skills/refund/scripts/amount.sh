#!/bin/sh
# Prints the amount that is paid back for $1 euros.
echo "$1"
