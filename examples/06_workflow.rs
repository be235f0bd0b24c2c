//! Shows skills as ordinary components: a plain program in which one skill uses another. No model takes part.
//!
//! The host gives a price list, the factory of the shop asks for it and for the stock, and the engine makes each once,
//! in whatever order they need each other.
//!
//! `cargo run -p examples --example 06_workflow`

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use skills_engine::skill::{MissingResource, Resources};
use skills_engine::{Engine, skill, skill_attribute, skill_tool};

/// Prices in cents, by item: what the host brings.
struct Prices(BTreeMap<&'static str, u32>);

/// Knows how many pieces of each item are left.
#[skill]
struct Stock {
    pieces: Mutex<BTreeMap<&'static str, u32>>,
}

impl Default for Stock {
    fn default() -> Self {
        Self {
            pieces: Mutex::new(BTreeMap::from([("cup", 6), ("teapot", 1)])),
        }
    }
}

#[skill]
impl Stock {
    /// Takes pieces of an item.
    #[skill_tool]
    fn take(&self, item: &str, count: u32) -> Result<(), String> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let left = pieces
            .get_mut(item)
            .ok_or_else(|| format!("there is no item `{item}`"))?;
        *left = left
            .checked_sub(count)
            .ok_or_else(|| format!("only {left} of `{item}` left"))?;
        Ok(())
    }

    /// Pieces left of all items.
    #[skill_attribute]
    fn pieces_left(&self) -> u32 {
        let pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        pieces.values().sum()
    }
}

/// Sells things.
#[skill(factory = Shop::new)]
struct Shop {
    prices: Arc<Prices>,
    stock: Arc<Stock>,
}

impl Shop {
    fn new(resources: &Resources) -> Result<Self, MissingResource> {
        Ok(Self {
            prices: resources.require()?,
            stock: resources.skill()?,
        })
    }
}

#[skill]
impl Shop {
    /// Sells pieces of an item and answers the price in cents.
    #[skill_tool]
    fn sell(&self, item: &str, count: u32) -> Result<u32, String> {
        let price = self.prices.0.get(item).ok_or("it has no price")?;
        self.stock.take(item, count)?;
        Ok(price.saturating_mul(count))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prices = Prices(BTreeMap::from([("cup", 450), ("teapot", 2_900)]));
    let engine = Engine::builder().resource(prices).build().await?;
    let shop = engine.skill::<Shop>()?;
    let stock = engine.skill::<Stock>()?;

    println!("pieces left: {}", stock.pieces_left());
    for (item, count) in [("cup", 4), ("teapot", 2), ("teapot", 1)] {
        match shop.sell(item, count) {
            Ok(cents) => println!("sold {count} {item}: {cents} cents"),
            Err(err) => println!("not sold {count} {item}: {err}"),
        }
    }
    println!("pieces left: {}", stock.pieces_left());
    Ok(())
}
