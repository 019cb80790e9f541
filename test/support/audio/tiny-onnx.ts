/** Writes small ONNX models: the few messages of its protocol buffers that a graph needs, encoded by hand. */

export interface Tensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly data: Float32Array | BigInt64Array;
}

export interface Value {
  readonly name: string;
  readonly type: 'float' | 'int64';
  /** A text is a length that is not known before. */
  readonly dims: readonly (number | string)[];
}

export interface Node {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly ints?: Readonly<Record<string, readonly number[]>>;
  readonly int?: Readonly<Record<string, number>>;
}

export interface TinyModel {
  readonly nodes: readonly Node[];
  readonly constants: readonly Tensor[];
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly metadata: Readonly<Record<string, string | number>>;
}

const elementType = { float: 1, int64: 7 } as const;
const attributeType = { int: 2, ints: 7 } as const;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

const number = (field: number, value: number): Buffer => Buffer.concat([varint(field << 3), varint(value)]);

function bytes(field: number, value: Uint8Array | string): Buffer {
  const body = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([varint((field << 3) | 2), varint(body.length), body]);
}

const message = (field: number, parts: readonly Buffer[]): Buffer => bytes(field, Buffer.concat(parts));

const tensor = (field: number, { name, dims, data }: Tensor): Buffer =>
  message(field, [
    ...dims.map((dim) => number(1, dim)),
    number(2, data instanceof Float32Array ? elementType.float : elementType.int64),
    bytes(8, name),
    bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
  ]);

const value = (field: number, { name, type, dims }: Value): Buffer =>
  message(field, [
    bytes(1, name),
    message(2, [
      message(1, [
        number(1, elementType[type]),
        message(
          2,
          dims.map((dim) => message(1, [typeof dim === 'number' ? number(1, dim) : bytes(2, dim)])),
        ),
      ]),
    ]),
  ]);

const node = (field: number, { op, inputs, output, ints = {}, int = {} }: Node): Buffer =>
  message(field, [
    ...inputs.map((name) => bytes(1, name)),
    bytes(2, output),
    bytes(4, op),
    ...Object.entries(ints).map(([name, values]) =>
      message(5, [bytes(1, name), ...values.map((one) => number(8, one)), number(20, attributeType.ints)]),
    ),
    ...Object.entries(int).map(([name, one]) =>
      message(5, [bytes(1, name), number(3, one), number(20, attributeType.int)]),
    ),
  ]);

/** The bytes of the file. */
export function encodeModel(model: TinyModel): Buffer {
  const graph = [
    ...model.nodes.map((one) => node(1, one)),
    bytes(2, 'tiny'),
    ...model.constants.map((one) => tensor(5, one)),
    ...model.inputs.map((one) => value(11, one)),
    ...model.outputs.map((one) => value(12, one)),
  ];
  return Buffer.concat([
    number(1, 8),
    message(7, graph),
    message(8, [bytes(1, ''), number(2, 13)]),
    ...Object.entries(model.metadata).map(([key, text]) =>
      message(14, [bytes(1, key), bytes(2, String(text))]),
    ),
  ]);
}
