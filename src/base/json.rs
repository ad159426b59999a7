//! Strict JSON: the reading of input on which a decision rests.
//!
//! A key that occurs twice, an array where an object belongs and text after the
//! document are refused, each with its place. Knows nothing of what is read.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Why a text is not the JSON document that was asked for, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct JsonFault {
    /// The line, from 1; 0 if the fault has no place.
    pub line: usize,
    /// The column in bytes, from 1; 0 before the first byte of a line.
    pub column: usize,
    /// What is wrong, in one sentence without its place.
    pub message: String,
}

impl From<serde_json::Error> for JsonFault {
    fn from(error: serde_json::Error) -> JsonFault {
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = text.strip_suffix(&place).unwrap_or(&text).to_owned();
        JsonFault { line: error.line(), column: error.column(), message }
    }
}

/// Reads one JSON document that must be an object of the shape of `T`.
pub fn read_object<T: DeserializeOwned>(text: &str) -> Result<T, JsonFault> {
    Ok(serde_json::from_str::<Object<T>>(text)?.0)
}

/// Reads one JSON document of any shape in which no object has a key twice.
pub fn read_value(text: &str) -> Result<Value, JsonFault> {
    Ok(serde_json::from_str::<AnyValue>(text)?.0)
}

/// Reads one JSON document that must be an array of objects of the shape of `T`.
pub fn read_objects<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, JsonFault> {
    let objects = serde_json::from_str::<Vec<Object<T>>>(text)?;
    Ok(objects.into_iter().map(|object| object.0).collect())
}

/// A value that stands in the text as an object. A derived reader would take an
/// array in field order as well, and so let a misplaced value through.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(map)).map(Object)
    }
}

/// For `deserialize_with`: an object.
pub fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|object| object.0)
}

/// For `deserialize_with` beside `default`: an object or null.
pub fn optional_object<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::<Object<T>>::deserialize(deserializer)?.map(|object| object.0))
}

/// For `deserialize_with` beside `default`: tells a member that is null (`Some(None)`)
/// from one that is missing (`None`).
pub fn nullable_object<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    optional_object(deserializer).map(Some)
}

/// For `deserialize_with` beside `default`: a list of objects; null is no list.
pub fn listed_objects<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let objects = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(Some(objects.into_iter().map(|object| object.0).collect()))
}

/// For `deserialize_with` beside `default`: a list of any values without repeated keys.
pub fn listed_values<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Value>>, D::Error> {
    let values = Vec::<AnyValue>::deserialize(deserializer)?;
    Ok(Some(values.into_iter().map(|value| value.0).collect()))
}

/// Something with a name that occurs once in its list.
pub trait Named {
    /// What the name is called in messages, such as `session_id`.
    const MEMBER: &'static str;
    /// The name.
    fn name(&self) -> &str;
}

/// For `deserialize_with` beside `default`: a list of objects whose names are there and
/// differ. Which of two rows of one name is meant is never guessed.
pub fn named_objects<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Named,
{
    deserializer.deserialize_seq(NamedVisitor(PhantomData)).map(Some)
}

struct NamedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Named> Visitor<'de> for NamedVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
        let mut seen = BTreeSet::new();
        let mut items = Vec::new();
        while let Some(Object(item)) = seq.next_element::<Object<T>>()? {
            let name = item.name();
            if name.trim().is_empty() {
                return Err(de::Error::custom(format!("`{}` is empty", T::MEMBER)));
            }
            if !seen.insert(name.to_owned()) {
                return Err(de::Error::custom(format!("duplicate {} {name:?}", T::MEMBER)));
            }
            items.push(item);
        }
        Ok(items)
    }
}

/// Any JSON value in which no object has a key twice. Depth is bounded by the parser.
struct AnyValue(Value);

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor).map(AnyValue)
    }
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(AnyValue(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = serde_json::Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let AnyValue(value) = map.next_value()?;
            if members.contains_key(&key) {
                return Err(de::Error::custom(format!("duplicate field `{key}`")));
            }
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        id: String,
        #[serde(default, deserialize_with = "listed_values")]
        any: Option<Vec<Value>>,
    }

    impl Named for Row {
        const MEMBER: &'static str = "id";
        fn name(&self) -> &str {
            &self.id
        }
    }

    #[derive(Debug, serde::Deserialize)]
    struct Rows {
        #[serde(default, deserialize_with = "named_objects")]
        rows: Option<Vec<Row>>,
        #[serde(default, deserialize_with = "nullable_object")]
        one: Option<Option<Row>>,
    }

    fn fault(text: &str) -> JsonFault {
        read_object::<Rows>(text).expect_err(text)
    }

    #[test]
    fn an_array_is_no_object_wherever_it_stands() {
        assert!(fault(r#"[[{"id":"a"}]]"#).message.contains("expected an object"));
        assert!(fault(r#"{"rows":[["a"]]}"#).message.contains("expected an object"));
        assert!(fault(r#"{"one":["a"]}"#).message.contains("expected an object"));
        assert!(read_objects::<Row>(r#"{"id":"a"}"#).is_err());
    }

    #[test]
    fn a_repeated_key_is_refused_at_its_place() {
        let found = fault("{\"rows\":[\n{\"id\":\"a\",\n \"id\":\"b\"}]}");
        assert_eq!((found.line, found.message.as_str()), (3, "duplicate field `id`"));
        assert!(fault(r#"{"one":{"id":"a","any":[{"x":1,"x":1}]}}"#).message.contains("duplicate field `x`"));
    }

    #[test]
    fn names_are_there_and_differ() {
        assert_eq!(fault(r#"{"rows":[{"id":"a"},{"id":"a"}]}"#).message, "duplicate id \"a\"");
        assert_eq!(fault(r#"{"rows":[{"id":" "}]}"#).message, "`id` is empty");
    }

    #[test]
    fn null_missing_and_present_are_three_things() {
        let empty = read_object::<Rows>("{}").unwrap();
        assert!(empty.one.is_none() && empty.rows.is_none());
        assert!(matches!(read_object::<Rows>(r#"{"one":null}"#).unwrap().one, Some(None)));
        assert!(matches!(read_object::<Rows>(r#"{"one":{"id":"a"}}"#).unwrap().one, Some(Some(_))));
        assert!(fault(r#"{"rows":null}"#).message.contains("array"));
    }

    #[test]
    fn values_keep_their_shape_and_depth_is_bounded() {
        let row = read_object::<Row>(r#"{"id":"a","any":[null,true,-1,2,1.5,"s",[{"k":[]}]]}"#).unwrap();
        assert_eq!(
            Value::from(row.any.unwrap()),
            serde_json::json!([null, true, -1, 2, 1.5, "s", [{"k":[]}]])
        );
        let deep = format!(r#"{{"id":"a","any":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(read_object::<Row>(&deep).unwrap_err().message.contains("recursion"));
        assert!(read_object::<Row>(r#"{"id":"a"} x"#).is_err());
    }
}
