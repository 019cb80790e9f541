/**
 * Moves a finished recording into an S3-compatible bucket: one PUT for each file, signed with Signature Version 4, the transcript last, so
 * that whoever finds a transcript finds the rest. Doing it again puts the same objects.
 */
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { Agent } from '../../shared/runtime/undici.ts';
import type { UploadTarget } from '../../shared/protocol/recording.ts';
import { recordingFiles } from './finish.ts';

const headersWithinMs = 30_000;
const agent = new Agent({ connections: 2 });

/** The bucket did not take it; the message holds neither its answer nor a key. */
export class UploadRefused extends Error {
  override readonly name = 'UploadRefused';
}

/** @param name of the recording below the target, with slashes. @throws UploadRefused, or what the network throws. */
export async function uploadRecording(folder: string, name: string, target: UploadTarget): Promise<void> {
  const files = readdirSync(folder).toSorted(
    (a, b) => Number(a === recordingFiles.transcript) - Number(b === recordingFiles.transcript),
  );
  for (const file of files) await putFile(join(folder, file), `${name}/${file}`, target);
}

async function putFile(path: string, name: string, target: UploadTarget): Promise<void> {
  const { url, region, keyId, secret } = target;
  const address = `${url}/${name.split('/').map(encodeURIComponent).join('/')}`;
  const bytes = statSync(path).size;
  const signer = new AwsV4Signer({
    ...{ method: 'PUT', url: address, region, service: 's3' },
    ...{ accessKeyId: keyId, secretAccessKey: secret },
    headers: { 'content-type': typeOf(name) },
  });
  const { headers } = await signer.sign();
  const { origin, pathname } = new URL(address);
  const { statusCode, body } = await agent.request({
    ...{ origin, path: pathname, method: 'PUT' },
    headers: { ...Object.fromEntries(headers), 'content-length': String(bytes) },
    body: bytes === 0 ? '' : createReadStream(path),
    headersTimeout: headersWithinMs,
  });
  await body.dump();
  if (statusCode < 200 || statusCode > 299) throw new UploadRefused(`the bucket answered ${statusCode}`);
}

function typeOf(name: string): string {
  if (name.endsWith('.wav')) return 'audio/wav';
  if (name.endsWith('.opus')) return 'audio/ogg';
  return name.endsWith('.gz') ? 'application/gzip' : 'application/x-ndjson';
}
