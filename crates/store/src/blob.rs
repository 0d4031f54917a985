//! How long values are kept: text deflated, vectors as little-endian f32.

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{self, Read as _, Write as _};

/// More than any stored value inflates to; a damaged or hostile file cannot ask for more memory.
const MAX_INFLATED_BYTES: u64 = 1 << 30;

/// Deflates at the fastest level: on HTML it leaves a quarter to a third of the bytes, and the next level costs
/// twice the time for a few per cent more (measured).
pub(crate) fn deflate(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(bytes.len() / 3 + 16), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The bytes that `deflate` was given.
pub(crate) fn inflate(deflated: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(deflated.len().saturating_mul(4).min(1 << 24));
    let read = DeflateDecoder::new(deflated).take(MAX_INFLATED_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MAX_INFLATED_BYTES { Err(io::Error::other("it is larger than any value should be")) } else { Ok(bytes) }
}

pub(crate) fn floats_to_bytes(values: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; values.len() * 4];
    for (to, value) in bytes.chunks_exact_mut(4).zip(values) {
        to.copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// `None` unless the bytes are a whole number of values.
pub(crate) fn bytes_to_floats(bytes: &[u8]) -> Option<Vec<f32>> {
    let (values, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| values.iter().map(|value| f32::from_le_bytes(*value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_went_in() {
        for bytes in [&b""[..], b"a", &[0xff; 100_000], "<p>é東</p>".repeat(999).as_bytes()] {
            assert_eq!(inflate(&deflate(bytes).unwrap()).unwrap(), bytes);
        }
        let values = [0.0_f32, -0.0, 1.5, f32::MIN, f32::EPSILON];
        let again = bytes_to_floats(&floats_to_bytes(&values)).unwrap();
        assert_eq!(again.map_bits(), values.to_vec().map_bits());
        assert_eq!(bytes_to_floats(&[1, 2, 3]), None);
        assert!(inflate(b"\xff\xff\xff").is_err());
    }

    trait Bits {
        fn map_bits(self) -> Vec<u32>;
    }

    impl Bits for Vec<f32> {
        fn map_bits(self) -> Vec<u32> {
            self.into_iter().map(f32::to_bits).collect()
        }
    }
}
