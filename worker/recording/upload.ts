/**
 * Moves a finished recording into an S3-compatible bucket: one PUT for each file, signed with Signature Version 4, the transcript last, so
 * that a reader who finds a transcript finds the rest. Doing it again puts the same objects.
 */
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { Agent } from '../../shared/runtime/undici.ts';
import { recordingFiles, type UploadKeys, type UploadTarget } from '../../shared/recording/layout.ts';
import { withoutEnding } from '../../shared/recording/sealed.ts';

/** Without a sign of life: while it takes the file, and while it answers. */
const silentForMs = 120_000;
/** Of an answer that explains a refusal. */
const mostOfAnswer = 16_384;
const agent = new Agent({ connections: 2 });

/** The bucket did not take it. Of its answer the message holds the code of the error alone, which is a word of S3's, and no key. */
class UploadRefused extends Error {
  override readonly name = 'UploadRefused';
}

const isTranscript = (name: string): boolean => withoutEnding(name) === recordingFiles.transcript;

/** @param name of the recording below the target, with slashes. @throws UploadRefused, or what the network throws. */
export async function uploadRecording(folder: string, name: string, target: UploadTarget): Promise<void> {
  const files = readdirSync(folder).toSorted((a, b) => Number(isTranscript(a)) - Number(isTranscript(b)));
  const keys = 'file' in target.keys ? readKeys(target.keys.file) : target.keys;
  for (const file of files) await putFile(join(folder, file), `${name}/${file}`, { ...target, keys });
}

/** The keys that the file holds now. @throws UploadRefused, without a word of the file. */
function readKeys(file: string): UploadKeys {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new UploadRefused('SVC_RECORDING_UPLOAD_KEYS_FILE cannot be read as JSON');
  }
  const field = (name: string): string | undefined => {
    const value: unknown = typeof read === 'object' && read !== null ? Reflect.get(read, name) : undefined;
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [keyId, secret, sessionToken] = [
    field('AccessKeyId'),
    field('SecretAccessKey'),
    field('SessionToken'),
  ];
  if (keyId === undefined || secret === undefined)
    throw new UploadRefused('SVC_RECORDING_UPLOAD_KEYS_FILE lacks AccessKeyId or SecretAccessKey');
  return { keyId, secret, ...(sessionToken !== undefined && { sessionToken }) };
}

async function putFile(
  path: string,
  name: string,
  target: UploadTarget & { readonly keys: UploadKeys },
): Promise<void> {
  const { url, region, keys } = target;
  const address = `${url}/${name.split('/').map(encodeURIComponent).join('/')}`;
  const bytes = statSync(path).size;
  const signer = new AwsV4Signer({
    method: 'PUT',
    url: address,
    region,
    service: 's3',
    accessKeyId: keys.keyId,
    secretAccessKey: keys.secret,
    ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
    headers: { 'content-type': typeOf(name) },
  });
  const { headers } = await signer.sign();
  const { origin, pathname } = new URL(address);
  const {
    statusCode,
    headers: answer,
    body,
  } = await agent.request({
    origin,
    path: pathname,
    method: 'PUT',
    headers: { ...Object.fromEntries(headers), 'content-length': String(bytes) },
    body: bytes === 0 ? '' : createReadStream(path),
    headersTimeout: silentForMs,
    bodyTimeout: silentForMs,
  });
  if (statusCode >= 200 && statusCode <= 299) return body.dump();
  const because = [codeOf(await beginningOf(body)), regionOf(answer['x-amz-bucket-region'])].filter(Boolean);
  throw new UploadRefused(
    `the bucket answered ${statusCode}${because.length > 0 ? ` (${because.join(', ')})` : ''}`,
  );
}

/** What comes of an answer, as far as it is looked at: a bucket that breaks off has answered with its status all the same. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  try {
    for await (const part of body) {
      text += Buffer.from(part).toString('latin1');
      if (text.length > mostOfAnswer) return text;
    }
    return text;
  } catch {
    return text;
  }
}

/** `RequestTimeTooSkewed` is a wrong clock and `AccessDenied` a missing right, and both are 403. */
const codeOf = (answer: string): string | undefined => /<Code>([A-Za-z]{1,60})<[/]Code>/.exec(answer)?.[1];

const regionOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' && /^[a-z0-9-]{1,40}$/.test(header) ? `it is in ${header}` : undefined;

function typeOf(name: string): string {
  if (name.endsWith('.wav')) return 'audio/wav';
  if (name.endsWith('.opus')) return 'audio/ogg';
  if (name.endsWith('.gz')) return 'application/gzip';
  return name.endsWith('.jsonl') ? 'application/x-ndjson' : 'application/octet-stream';
}
