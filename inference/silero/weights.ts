/**
 * The weights in a file of Silero VAD, v5 or v6 (ONNX): tensors by name. The files of its makers hold one network for each sample rate, or that
 * for 16 kHz alone, in a graph of its own or inside of branches; names may have a prefix. Of ONNX it knows where graphs, nodes and tensors
 * lie, and not how nodes compute.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

export type Weights = (name: string, length: number) => Float32Array;

type Tensors = Map<string, Uint8Array>;

/** The basis of the spectrum for 16 kHz: it tells the network from that for 8 kHz. */
const basis = { name: 'stft.forward_basis_buffer', length: 258 * 256 };
const prefix = /^model\./;

/** Field numbers of ONNX's messages. */
const field = {
  model: { graph: 7 },
  graph: { node: 1, initializer: 5 },
  node: { attribute: 5 },
  attribute: { tensor: 5, graph: 6 },
  tensor: { name: 8, raw: 9 },
} as const;

/**
 * @param file bytes of the model's file
 * @throws Error where it holds no Silero VAD for 16 kHz, or a tensor that is asked for is missing or of another length
 */
export function readWeights(file: Uint8Array): Weights {
  const graphs: Tensors[] = [];
  for (const graph of messages(file, field.model.graph)) collect(graph, graphs);
  const tensors = graphs.find((found) => found.get(basis.name)?.length === 4 * basis.length);
  if (tensors === undefined) throw new Error('the file holds no Silero VAD model, v5 or v6, for 16 kHz');
  return (name, length) => {
    const raw = tensors.get(name);
    if (raw?.length !== 4 * length)
      throw new Error(`the Silero VAD model has no ${name} of ${length} numbers`);
    // Copied, because the bytes of a file stand at any address.
    return new Float32Array(new Uint8Array(raw).buffer);
  };
}

/** Tensors of a graph, those of its constants included, and of each graph within, one after the other. */
function collect(graph: Uint8Array, graphs: Tensors[]): void {
  const tensors: Tensors = new Map();
  graphs.push(tensors);
  for (const tensor of messages(graph, field.graph.initializer)) keep(tensor, tensors);
  for (const node of messages(graph, field.graph.node))
    for (const attribute of messages(node, field.node.attribute)) {
      for (const tensor of messages(attribute, field.attribute.tensor)) keep(tensor, tensors);
      for (const inner of messages(attribute, field.attribute.graph)) collect(inner, graphs);
    }
}

function keep(tensor: Uint8Array, tensors: Tensors): void {
  const [name] = messages(tensor, field.tensor.name);
  const [raw] = messages(tensor, field.tensor.raw);
  if (name !== undefined && raw !== undefined)
    tensors.set(new TextDecoder().decode(name).replace(prefix, ''), raw);
}

/** The fields of a message with one number: messages, texts or bytes. */
function messages(bytes: Uint8Array, wanted: number): Uint8Array[] {
  const reader = new BinaryReader(bytes);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === wanted && type === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(type, number);
  }
  return found;
}
