//! [`SynthDef`]: a graph of unit generators, as scsynth reads it (`SCgf`, version 2).

/// An input of a unit generator.
#[derive(Clone, Copy)]
pub enum Value {
    /// A number that never changes.
    Constant(f32),
    /// An output of a unit generator.
    Wire { ugen: usize, output: usize },
}

impl From<f32> for Value {
    fn from(number: f32) -> Self {
        Self::Constant(number)
    }
}

struct Ugen {
    class: &'static str,
    inputs: Vec<Value>,
    outputs: usize,
    /// Which operator it is, where the class has several.
    operator: i16,
}

/// A graph of unit generators, all of them at audio rate, in the order in which they run.
#[derive(Default)]
pub struct SynthDef {
    ugens: Vec<Ugen>,
}

/// The calculation rate "audio".
const AUDIO: u8 = 2;

impl SynthDef {
    /// Adds a unit generator with one output.
    pub fn add(&mut self, class: &'static str, inputs: &[Value]) -> Value {
        self.add_wide(class, inputs, 1)[0]
    }

    /// Adds a unit generator with `outputs` outputs.
    pub fn add_wide(
        &mut self,
        class: &'static str,
        inputs: &[Value],
        outputs: usize,
    ) -> Vec<Value> {
        let ugen = self.ugens.len();
        self.ugens.push(Ugen {
            class,
            inputs: inputs.into(),
            outputs,
            operator: 0,
        });
        (0..outputs)
            .map(|output| Value::Wire { ugen, output })
            .collect()
    }

    /// Adds a product.
    pub fn multiply(&mut self, a: Value, b: Value) -> Value {
        let product = self.add("BinaryOpUGen", &[a, b]);
        self.ugens.last_mut().expect("it was just added").operator = 2;
        product
    }

    /// Adds a sum as sclang's `Mix` writes it: four at a time.
    pub fn sum(&mut self, values: &[Value]) -> Value {
        match values {
            [] => Value::Constant(0.0),
            [one] => *one,
            [_, _] => self.add("BinaryOpUGen", values),
            [_, _, _] => self.add("Sum3", values),
            [_, _, _, _] => self.add("Sum4", values),
            _ => {
                let sums: Vec<Value> = values.chunks(4).map(|four| self.sum(four)).collect();
                self.sum(&sums)
            }
        }
    }

    /// The bytes of a file with this graph under `name`.
    pub fn encode(&self, name: &str) -> Vec<u8> {
        let mut constants = Vec::new();
        let ugens: Vec<Vec<u8>> = self
            .ugens
            .iter()
            .map(|ugen| ugen.encode(&mut constants))
            .collect();
        let mut bytes = b"SCgf\0\0\0\x02\0\x01".to_vec();
        put_name(&mut bytes, name);
        put(&mut bytes, constants.len());
        for constant in constants {
            bytes.extend(f32::to_be_bytes(constant));
        }
        // No controls, and no names of controls.
        put(&mut bytes, 0);
        put(&mut bytes, 0);
        put(&mut bytes, ugens.len());
        bytes.extend(ugens.concat());
        // No variants.
        bytes.extend([0, 0]);
        bytes
    }
}

impl Ugen {
    fn encode(&self, constants: &mut Vec<f32>) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_name(&mut bytes, self.class);
        bytes.push(AUDIO);
        put(&mut bytes, self.inputs.len());
        put(&mut bytes, self.outputs);
        bytes.extend(self.operator.to_be_bytes());
        for input in &self.inputs {
            match *input {
                Value::Wire { ugen, output } => {
                    put(&mut bytes, ugen);
                    put(&mut bytes, output);
                }
                Value::Constant(number) => {
                    bytes.extend((-1i32).to_be_bytes());
                    put(&mut bytes, constants.len());
                    constants.push(number);
                }
            }
        }
        bytes.extend(std::iter::repeat_n(AUDIO, self.outputs));
        bytes
    }
}

fn put(bytes: &mut Vec<u8>, number: usize) {
    let number = i32::try_from(number).expect("a graph is small");
    bytes.extend(number.to_be_bytes());
}

fn put_name(bytes: &mut Vec<u8>, name: &str) {
    bytes.push(u8::try_from(name.len()).expect("a name is short"));
    bytes.extend(name.bytes());
}
