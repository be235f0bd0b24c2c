//! The messages of the macros; a package of its own, because trybuild builds with the features of its package.
