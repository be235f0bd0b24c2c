//! Tests of the reading of main files, which is not public.

mod cases;
