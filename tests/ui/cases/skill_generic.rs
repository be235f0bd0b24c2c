use skills_engine::skill;

/// Has a type parameter.
#[skill]
struct OfType<T> {
    value: T,
}

/// Has a lifetime.
#[skill]
struct OfLifetime<'a> {
    value: &'a str,
}

/// Has a size.
#[skill]
struct OfSize<const N: usize>;

fn main() {}
