//! Pixels to a PNG file.

use super::paint::Canvas;

/// The file, which says how large a pixel is on paper too.
pub(super) fn encode(canvas: Canvas, scale: f64) -> Vec<u8> {
    let (width, height, mut rows) = canvas.into_rows();
    let stride = 1 + 3 * width;
    // Each row as its difference to the one above, from the last upwards so that the one above is still whole.
    for at in (0..height).rev() {
        let (above, from) = rows.split_at_mut(at * stride);
        let row = &mut from[..stride];
        row[0] = 2;
        if at > 0 {
            let above = &above[(at - 1) * stride..];
            row[1..]
                .iter_mut()
                .zip(&above[1..])
                .for_each(|(new, old)| *new = new.wrapping_sub(*old));
        }
    }
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&rows, 6);
    drop(rows);
    let mut head = Vec::new();
    head.extend_from_slice(&(width as u32).to_be_bytes());
    head.extend_from_slice(&(height as u32).to_be_bytes());
    // Eight bits a channel, three channels, nothing special.
    head.extend_from_slice(&[8, 2, 0, 0, 0]);
    let per_metre = (scale * 96.0 / 0.0254).round() as u32;
    let mut physical = [per_metre.to_be_bytes(), per_metre.to_be_bytes()].concat();
    physical.push(1);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &head);
    chunk(&mut file, b"pHYs", &physical);
    chunk(&mut file, b"IDAT", &packed);
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    file.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let begin = file.len();
    file.extend_from_slice(name);
    file.extend_from_slice(data);
    let sum = crc(&file[begin..]);
    file.extend_from_slice(&sum.to_be_bytes());
}

/// CRC-32 as PNG has it.
pub(super) fn crc(data: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    let step = |sum: u32, byte: &u8| TABLE[((sum ^ u32::from(*byte)) & 0xff) as usize] ^ (sum >> 8);
    !data.iter().fold(u32::MAX, step)
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let mut sum = n as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 {
                0xedb8_8320 ^ (sum >> 1)
            } else {
                sum >> 1
            };
            bit += 1;
        }
        table[n] = sum;
        n += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_check_sum_is_the_published_one() {
        assert_eq!(super::crc(b"123456789"), 0xcbf4_3926);
    }
}
