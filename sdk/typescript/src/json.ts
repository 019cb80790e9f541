/** A text, or a number with all that belongs to it. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Reads JSON. A whole number beyond `Number.MAX_SAFE_INTEGER` becomes the text of its digits: order and card numbers have more of them than a
 * `number` holds, and a `bigint` would fail in the first `JSON.stringify`.
 *
 * @throws SyntaxError where the text is not JSON
 */
export function parseJson(text: string): unknown {
  const plain: unknown = JSON.parse(text);
  if (!/\d{16}/.test(text)) return plain;
  return JSON.parse(
    text.replace(token, (found) =>
      /^-?\d+$/.test(found) && !Number.isSafeInteger(Number(found)) ? `"${found}"` : found,
    ),
  );
}
