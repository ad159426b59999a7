//! Who waits for a node's values, and what each does with one. Kinds alone; the solver acts on them.

use super::solve::NodeId;
use super::value::{Symbol, UnitId, ValueId};
use crate::base::ir::ExprId;
use crate::base::site::Confidence;

/// What happens with a value that arrives at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum User {
    /// Copied to another node.
    Copy(NodeId),
    /// The expression in the unit is a step on this node: attribute, call, element …
    Step(UnitId, ExprId),
    /// The value is bound to a receiver and copied.
    Bind(ValueId, NodeId),
    /// The elements of the value are copied.
    Elements(NodeId),
    /// The value is stored into the slot of a store of the unit (arrives at the base).
    Store(UnitId, u32),
    /// The entries of a mapping are copied.
    Entries(NodeId),
    /// The entries of a mapping are the container's too, each under its key.
    Include(ValueId),
    /// The value was read from a slot by an attribute expression: a property runs.
    Read(UnitId, ExprId),
    /// The value is called at the expression; nobody takes the result.
    CallMember(UnitId, ExprId),
    /// The value is called at the expression, whose value is the result.
    CallInto(UnitId, ExprId),
    /// What a callable gives back is copied.
    Result(NodeId),
    /// What iterating over the result of a callable gives flows into the expression.
    IteratorOf(UnitId, ExprId),
    /// The instance is iterated over at the expression.
    IterateFor(UnitId, ExprId),
    /// What `iter()` makes of the value is the value of the expression.
    IteratorFrom(UnitId, ExprId),
    /// The value is given to something of a file that is not among the units.
    Carry(Symbol),
    /// The instance is asked for its next element at the expression.
    NextOf(UnitId, ExprId),
    /// Copied as an argument: primitives stay where they were handed over.
    Argument(UnitId, NodeId),
    /// What a partial application applies that was handed over: it is copied unless that is a primitive.
    Applied(NodeId, ValueId),
    /// The callable's first parameter receives a node's values.
    FirstParam(NodeId),
    /// The callable's parameter at a position, the receiver aside, receives a node's values.
    Param(u32, NodeId),
    /// The named member of the value is copied.
    Member(Symbol, NodeId),
    /// A component of a path, by its name, flows into a node of the unit.
    PathMember(UnitId, Symbol, NodeId),
    /// The value's members are called by an operation at the expression (an index of the table).
    Protocol(UnitId, ExprId, u8),
    /// The receiver of the method in which `super()` stands.
    SuperOf(UnitId, ExprId),
    /// What `property()` makes of the value flows into a node.
    Getter(NodeId),
    /// `attrgetter(name)` is called at the expression with the value; the name is of another call.
    Named(UnitId, ExprId, ValueId),
    /// A lookup by name on the value, at a call.
    Dynamic(UnitId, ExprId),
    /// A partial application's callable is called: the call, and the partial application.
    CallPartial(UnitId, ExprId, ValueId),
    /// The value was handed over at an expression.
    HandOver(UnitId, ExprId, Confidence),
    /// A method of an object that was handed over at an expression.
    HandOverMethod(UnitId, ExprId),
    /// Whoever was handed the owner may call the value; only where it is a function, if so marked.
    Held(ValueId, bool),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_stays_small() {
        // Every node keeps the first of its users in place, and a large program has millions of nodes.
        assert_eq!((size_of::<User>(), size_of::<smallvec::SmallVec<[User; 1]>>()), (16, 24));
    }
}
