//! What is read from each language that has a grammar, by example.

use std::fmt::Write;

use expect_test::{Expect, expect};

use crate::language::Language;
use crate::symbols::read;

#[track_caller]
fn check(language: Language, content: &str, expected: &Expect) {
    let facts = read(language, content);
    let mut seen = String::new();
    if let Some(doc) = &facts.doc {
        writeln!(seen, "doc: {doc}").unwrap();
    }
    for d in &facts.definitions {
        let calls: Vec<&str> = d.calls.iter().map(|id| facts.names.get(*id)).collect();
        assert_eq!(&content[d.name_span()], d.name());
        assert!(d.span().start <= d.header_start() && d.header_start() < d.span().end);
        write!(
            seen,
            "{:?} {} {}-{} `{}`",
            d.kind, d.qualified, d.line, d.end_line, d.signature
        )
        .unwrap();
        if let Some(doc) = &d.doc {
            write!(seen, " doc={doc:?}").unwrap();
        }
        if !d.decorators.is_empty() {
            write!(seen, " decorators={:?}", d.decorators).unwrap();
        }
        if !calls.is_empty() {
            write!(seen, " calls={calls:?}").unwrap();
        }
        seen.push('\n');
    }
    for i in &facts.imports {
        let alias =
            |alias: Option<&str>| alias.map_or(String::new(), |alias| format!(" as {alias}"));
        let names: Vec<String> = i
            .names
            .iter()
            .map(|n| format!("{}{}", n.name, alias(n.alias.as_deref())))
            .collect();
        let module = format!(
            "{}{}{}",
            ".".repeat(i.level.into()),
            i.module,
            alias(i.alias.as_deref())
        );
        writeln!(seen, "{:?} import {module} {names:?} at {}", i.when, i.line).unwrap();
    }
    if facts.broken {
        writeln!(seen, "broken").unwrap();
    }
    expected.assert_eq(&seen);
}

#[test]
fn rust() {
    check(
        Language::Rust,
        r#"//! Orders.

use crate::price::{Money, round as r};
mod store;

/// One order.
///
/// More.
#[derive(Debug)]
pub struct Order<T> { lines: Vec<T> }

pub const LIMIT: usize = 3;

impl<T> Order<T> {
    /// Adds up.
    pub fn total(&self, tax: u32) -> Money {
        let f = |x| helper(x);
        self.lines.iter().map(f).sum::<u32>()
    }
}

trait Shop { fn open(&self); }
macro_rules! m { () => {} }
fn main() { m!(); crate::store::save(1); }
"#,
        &expect![[r#"
            doc: Orders.
            Class Order 10-10 `pub struct Order<T>` doc="One order."
            Variable LIMIT 12-12 `pub const LIMIT: usize = 3`
            Method Order.total 16-19 `pub fn total(&self, tax: u32) -> Money` doc="Adds up." calls=["helper", "sum", "map", "iter"]
            Interface Shop 22-22 `trait Shop`
            Method Shop.open 22-22 `fn open(&self)`
            Macro m 23-23 `macro_rules! m`
            Function main 24-24 `fn main()` calls=["m", "save"]
            Start import crate::price ["Money"] at 3
            Start import crate::price ["round"] at 3
            Start import self::store [] at 4
        "#]],
    );
}

#[test]
fn javascript() {
    check(
        Language::JavaScript,
        r#"/** Orders of a shop. */

import d, { a as b, c } from "./price.js";
import * as n from 'lib';
export { x } from './x';
const fs = require("fs");

/** One order. */
export class Order extends Base {
    size = 3;
    add = (line) => { this.push(line); };
    total(tax) { return sum(this.lines); }
}
export const rate = (x) => x * 2, other = 1;
function* gen() { const inner = 1; new Order(); }
export default function App() { return <Order size={1}/>; }
"#,
        &expect![[r#"
            doc: Orders of a shop.
            Variable fs 6-6 `const fs = require("fs")`
            Class Order 9-13 `class Order extends Base` doc="One order."
            Variable Order.size 10-10 `size = 3`
            Method Order.add 11-11 `add = (line)` calls=["push"]
            Method Order.total 12-12 `total(tax)` calls=["sum"]
            Function rate 14-14 `rate = (x)`
            Variable other 14-14 `other = 1`
            Function gen 15-15 `function* gen()` calls=["Order"]
            Function App 16-16 `function App()` calls=["Order"]
            Start import ./price.js ["default as d", "a as b", "c"] at 3
            Start import lib ["* as n"] at 4
            Start import ./x ["x"] at 5
            Start import fs [] at 6
        "#]],
    );
}

#[test]
fn typescript() {
    check(
        Language::TypeScript,
        r#"import type { T } from "./types";
import { f } from "./f";
export interface Shop { open(): void; name: string }
export type Id = string | number;
enum Color { Red }
@Injectable()
export abstract class Base<T> {
    private x: number = 1;
    constructor(private readonly y: T) { super(); }
    abstract run(): void;
    async go(a: string): Promise<void> { await f(a); }
}
namespace N { export function inner() {} }
declare function external(a: number): void;
"#,
        &expect![[r#"
            Interface Shop 3-3 `interface Shop`
            Method Shop.open 3-3 `open(): void`
            Class Id 4-4 `type Id = string | number`
            Class Color 5-5 `enum Color`
            Class Base 7-12 `abstract class Base<T>`
            Variable Base.x 8-8 `private x: number = 1`
            Method Base.constructor 9-9 `constructor(private readonly y: T)` calls=["super"]
            Method Base.run 10-10 `abstract run(): void`
            Method Base.go 11-11 `async go(a: string): Promise<void>` calls=["f"]
            Module N 13-13 `namespace N`
            Function N.inner 13-13 `function inner()`
            Function external 14-14 `function external(a: number): void`
            Typing import ./types ["T"] at 1
            Start import ./f ["f"] at 2
        "#]],
    );
}

#[test]
fn go() {
    check(
        Language::Go,
        r#"// Package shop sells.
package shop

import (
	"fmt"
	p "example.com/shop/price"
)

const Limit = 3

// Order is one order.
type Order struct { lines []int }
type Shop interface { Open() }

// Total adds up.
func (o *Order[T]) Total(tax int) (int, error) {
	x := 1
	return p.Sum(o.lines), fmt.Errorf("x")
}
func main() { helper() }
"#,
        &expect![[r#"
            doc: Package shop sells.
            Variable Limit 9-9 `const Limit = 3`
            Class Order 12-12 `type Order struct` doc="Order is one order."
            Interface Shop 13-13 `type Shop interface`
            Method Order.Total 16-19 `func (o *Order[T]) Total(tax int) (int, error)` doc="Total adds up." calls=["Sum", "Errorf"]
            Function main 20-20 `func main()` calls=["helper"]
            Start import fmt [] at 5
            Start import example.com/shop/price [] at 6
        "#]],
    );
}

#[test]
fn java() {
    check(
        Language::Java,
        r#"/* Copyright Someone. */
package shop;
import java.util.List;
import static shop.Price.round;

/** One order. */
@Entity
public class Order extends Base implements Shop {
    private static final int LIMIT = 3;
    public Order(int x) { super(x); }
    @Override
    public int total(int tax) { int local = 1; return round(new Money(tax)); }
    interface Inner { void f(); }
    enum Color { RED, BLUE }
}
"#,
        &expect![[r#"
            Class Order 8-15 `@Entity public class Order extends Base implements Shop` doc="One order."
            Variable Order.LIMIT 9-9 `private static final int LIMIT = 3`
            Method Order.Order 10-10 `public Order(int x)`
            Method Order.total 12-12 `@Override public int total(int tax)` calls=["round", "Money"]
            Interface Order.Inner 13-13 `interface Inner`
            Method Order.Inner.f 13-13 `void f()`
            Class Order.Color 14-14 `enum Color`
            Variable Order.Color.RED 14-14 `RED`
            Variable Order.Color.BLUE 14-14 `BLUE`
            Start import java.util.List [] at 3
            Start import shop.Price.round [] at 4
        "#]],
    );
}

#[test]
fn c() {
    check(
        Language::C,
        r#"#include <stdio.h>
#include "price.h"
#define SQUARE(x) ((x) * (x))
static int limit = 3;
struct order { int lines; };
typedef struct { int x; } point_t;
typedef int (*handler)(int);
enum color { RED };
int prototype(int);

/* Adds up. */
static int *
total(struct order *o, int tax)
{
    int local = 1;
    return helper(o->lines, SQUARE(tax));
}
"#,
        &expect![[r#"
            Macro SQUARE 3-3 `#define SQUARE(x) ((x) * (x))`
            Variable limit 4-4 `static int limit = 3`
            Class order 5-5 `struct order`
            Class point_t 6-6 `typedef struct`
            Class handler 7-7 `typedef int (*handler)(int)`
            Class color 8-8 `enum color`
            Function total 13-17 `static int * total(struct order *o, int tax)` doc="Adds up." calls=["SQUARE", "helper"]
            Start import <stdio.h> [] at 1
            Start import price.h [] at 2
        "#]],
    );
}

#[test]
fn cpp() {
    check(
        Language::Cpp,
        r#"#include "order.hpp"
namespace shop {
template <typename T>
class Order : public Base {
public:
    int total(int tax) const { return sum(lines); }
    void declared();
};
}
int shop::Order<int>::size() const { auto p = new Money(1); return p->value(); }
Order::~Order() {}
using Id = int;
"#,
        &expect![[r#"
            Module shop 2-9 `namespace shop`
            Class shop.Order 4-8 `class Order : public Base`
            Method shop.Order.total 6-6 `int total(int tax) const` calls=["sum"]
            Method shop.Order.size 10-10 `int shop::Order<int>::size() const` calls=["Money", "value"]
            Method Order.~Order 11-11 `Order::~Order()`
            Class Id 12-12 `using Id = int`
            Start import order.hpp [] at 1
        "#]],
    );
}

#[test]
fn ruby() {
    check(
        Language::Ruby,
        r#"require 'json'
require_relative 'price'

module Shop
  LIMIT = 3
  # One order.
  class Order < Base
    def total(tax)
      local = 1
      sum(lines.map { |x| x.price })
    end

    def self.load?(path) = JSON.parse(path)
  end
end
class Shop::Other; end
"#,
        &expect![[r#"
            Module Shop 4-15 `module Shop`
            Variable Shop.LIMIT 5-5 `LIMIT = 3`
            Class Shop.Order 7-14 `class Order < Base` doc="One order."
            Method Shop.Order.total 8-11 `def total(tax)` calls=["sum", "map", "price"]
            Method Shop.Order.load? 13-13 `def self.load?(path)` calls=["parse"]
            Class Shop.Other 16-16 `class Shop::Other; end`
            Start import json [] at 1
            Start import ./price [] at 2
        "#]],
    );
}

#[test]
fn csharp() {
    check(
        Language::CSharp,
        r#"using System;
using static Shop.Price;
namespace Shop {
    /// <summary>One order.</summary>
    [Serializable]
    public class Order : Base {
        private const int Limit = 3;
        public int Size { get; set; }
        public Order(int x) : base(x) { }
        public int Total(int tax) { var y = 1; return Sum(new Money(tax)); }
    }
    interface IShop { void Open(); }
    record Line(int Price);
}
"#,
        &expect![[r#"
            Module Shop 3-14 `namespace Shop`
            Class Shop.Order 6-11 `[Serializable] public class Order : Base` doc="One order."
            Variable Shop.Order.Limit 7-7 `private const int Limit = 3`
            Variable Shop.Order.Size 8-8 `public int Size`
            Method Shop.Order.Order 9-9 `public Order(int x) : base(x)`
            Method Shop.Order.Total 10-10 `public int Total(int tax)` calls=["Sum", "Money"]
            Interface Shop.IShop 12-12 `interface IShop`
            Method Shop.IShop.Open 12-12 `void Open()`
            Class Shop.Line 13-13 `record Line(int Price)`
            Start import System [] at 1
            Start import Shop.Price [] at 2
        "#]],
    );
}

#[test]
fn php() {
    check(
        Language::Php,
        r#"<html><?php
namespace Shop;
use Shop\Price\Money;
require_once 'helpers.php';
/** One order. */
final class Order extends Base {
    const LIMIT = 3;
    public function total(int $tax): int { return sum($this->lines->all()); }
}
interface Shop {}
function main() { Order::load(1); }
"#,
        &expect![[r#"
            Class Order 6-9 `final class Order extends Base` doc="One order."
            Method Order.total 8-8 `public function total(int $tax): int` calls=["sum", "all"]
            Interface Shop 10-10 `interface Shop`
            Function main 11-11 `function main()` calls=["load"]
            Start import Shop\Price\Money [] at 3
            Start import helpers.php [] at 4
        "#]],
    );
}

#[test]
fn shell() {
    check(
        Language::Shell,
        r#"#!/bin/sh
# Builds the shop.

. ./lib.sh
LIMIT=3
# Adds up.
total() {
    local x=1
    helper "$1" | sort
}
function other { total; }
total
"#,
        &expect![[r#"
            doc: Builds the shop.
            Variable LIMIT 5-5 `LIMIT=3`
            Function total 7-10 `total()` doc="Adds up." calls=["helper", "sort"]
            Function other 11-11 `function other` calls=["total"]
            Start import ./lib.sh [] at 4
        "#]],
    );
}

#[test]
fn a_broken_file_gives_what_can_be_read() {
    check(
        Language::Rust,
        "fn ok() {}\nfn broken( {\nstruct S;\nfn last() { f() }\n",
        &expect![[r#"
            Function ok 1-1 `fn ok()`
            Class S 3-3 `struct S`
            Function last 4-4 `fn last()` calls=["f"]
            broken
        "#]],
    );
    check(
        Language::Go,
        "package a\nfunc ok() {}\nfunc broken( {\n",
        &expect![[r#"
            Function ok 2-2 `func ok()`
            broken
        "#]],
    );
}

#[test]
fn definitions_with_their_signatures_docs_decorators_and_calls() {
    check(
        Language::Python,
        r#"
"""Orders."""
LIMIT: int = 3
a, b = 1, 2

@dataclass(frozen=True)
class Order(Base, metaclass=M):
    """One order.

    More.
    """
    total = 0

    @property
    async def sum(
        self,
        tax=0,
    ) -> int:
        def inner(): return helper()
        return self.lines.add(inner())

if True:
    def guarded(): ...
print(LIMIT)
"#,
        &expect![[r#"
            doc: Orders.
            Variable LIMIT 3-3 `LIMIT: int = 3`
            Variable a 4-4 `a, b = 1, 2`
            Variable b 4-4 `a, b = 1, 2`
            Class Order 7-20 `class Order(Base, metaclass=M)` doc="One order." decorators=["dataclass(frozen=True)"]
            Variable Order.total 12-12 `total = 0`
            Method Order.sum 15-20 `async def sum( self, tax=0, ) -> int` decorators=["property"] calls=["add", "inner"]
            Function Order.sum.inner 19-19 `def inner()` calls=["helper"]
            Function guarded 23-23 `def guarded()`
        "#]],
    );
}

#[test]
fn imports_of_every_kind() {
    check(
        Language::Python,
        "import a.b, c as d\nfrom . import x\nfrom ..p.q import (y as z, w)\nfrom m import *\ntry:\n    import fast\nexcept ImportError:\n    fast = None\nif TYPE_CHECKING:\n    import t\ndef f():\n    import later\n__all__ = ['a'] + ['b']\n__all__ += ('c',)\n",
        &expect![[r#"
            Variable fast 8-8 `fast = None`
            Function f 11-12 `def f()`
            Variable __all__ 13-13 `__all__ = ['a'] + ['b']`
            Start import a.b [] at 1
            Start import c as d [] at 1
            Start import . ["x"] at 2
            Start import ..p.q ["y as z", "w"] at 3
            Start import m ["*"] at 4
            Guarded import fast [] at 6
            Typing import t [] at 10
            Later import later [] at 12
        "#]],
    );
}

#[test]
fn broken_python_gives_what_can_be_read() {
    check(
        Language::Python,
        "def f(:\n    return 1\n\nclass B:\n    def g(self):\n        return (\n\ndef h(): pass\n",
        &expect![[r#"
            Function f 1-2 `def f(:`
            Class B 4-6 `class B`
            Method B.g 5-6 `def g(self)` calls=["h"]
            Function h 8-8 `def h()`
            broken
        "#]],
    );
}

#[test]
fn an_unclosed_bracket_or_string_does_not_swallow_what_follows() {
    check(
        Language::Python,
        "import a\nx = (1,\n\ndef f():\n    return g(\n\n@d\nclass B:\n    def m(self): pass\n\ny = \"\"\"\ndef not_this(): pass\n\"\"\"\nfrom b import c\nz = [\nasync def last(): pass\n",
        &expect![[r#"
            Variable x 2-2 `x = (1,`
            Function f 4-5 `def f()` calls=["g"]
            Class B 8-9 `class B` decorators=["d"]
            Method B.m 9-9 `def m(self)`
            Variable y 11-13 `y = """`
            Variable z 15-15 `z = [`
            Function last 16-16 `async def last()`
            Start import a [] at 1
            Start import b ["c"] at 14
            broken
        "#]],
    );
}
