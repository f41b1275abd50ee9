import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Parser } from 'htmlparser2';
import type { BackupTarget } from './backup-target';

/** The part of aws4fetch that is used. Its own types need the DOM library, which this project does not load. */
interface Aws4Fetch {
  readonly AwsClient: new (
    options: Pick<S3Options, 'accessKeyId' | 'secretAccessKey' | 'sessionToken' | 'region'> & {
      readonly service: string;
      readonly retries: number;
    },
  ) => {
    /** Signs the request (AWS Signature Version 4), and sends it. */
    fetch(url: string, init: Parameters<typeof fetch>[1]): Promise<Response>;
  };
}

// An import would load its types.
// eslint-disable-next-line typescript/no-require-imports
const { AwsClient } = require('aws4fetch') as Aws4Fetch;

export interface S3Options {
  /** Without a slash at the end. Buckets are addressed by path, which all S3-compatible stores accept. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Of all keys, without slashes around it. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Larger files are uploaded in parts of this size; 64 MiB by default, and S3 demands 5 MiB at least. */
  readonly partBytes?: number;
}

const PART_BYTES = 64 * 1_024 * 1_024;
/** Server errors and 429 are retried by the client, with backoff and jitter. */
const RETRIES = 5;
const ERROR_TEXT_MAX = 300;
const PAGES_MAX = 1_000;

/** Parses `s3://<bucket>/<prefix>`. Undefined for other texts. */
export function parseS3Url(text: string): { readonly bucket: string; readonly prefix: string } | undefined {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]+[a-z0-9])(?:\/(.*))?$/u.exec(text) ?? [];
  return bucket === undefined ? undefined : { bucket, prefix: prefix.replaceAll(/^\/+|\/+$/gu, '') };
}

/** Backups as objects of a bucket of Amazon S3 or a compatible store. Methods reject with the status and the message of the store. */
export function openS3Target(options: S3Options): BackupTarget {
  const { endpoint, bucket, prefix, region, accessKeyId, secretAccessKey, sessionToken } = options;
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    region,
    service: 's3',
    retries: RETRIES,
  });
  const folder = prefix === '' ? '' : `${prefix}/`;
  const root = `${endpoint}/${bucket}`;
  const call: Call = async (method, place, { query = {}, body, headers } = {}) => {
    const url = `${place}${Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query).toString()}`}`;
    const response = await client.fetch(url, {
      method,
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      ...(headers === undefined ? {} : { headers }),
    });
    if (response.ok) return response;
    const [message] = readElements(await response.text(), 'Message');
    const reason = (message ?? '').slice(0, ERROR_TEXT_MAX);
    throw new Error(`${method} ${place} failed with ${String(response.status)} ${reason}`.trimEnd());
  };
  const urlOf = (name: string): string => `${root}/${encodeURI(`${folder}${name}`)}`;
  return {
    list: async () => (await listKeys(call, root, folder)).map((key) => key.slice(folder.length)),
    put: async (file, name) => {
      const handle = await open(file, 'r');
      try {
        const { size } = await handle.stat();
        const partBytes = options.partBytes ?? PART_BYTES;
        const readPart = async (at: number): Promise<Buffer> => {
          const buffer = Buffer.alloc(Math.min(partBytes, size - at));
          await handle.read(buffer, 0, buffer.length, at);
          return buffer;
        };
        if (size <= partBytes) await putBytes(call, urlOf(name), await readPart(0));
        else await putParts(call, urlOf(name), { size, partBytes, readPart });
      } finally {
        await handle.close();
      }
    },
    get: async (name, file) => {
      const { body } = await call('GET', urlOf(name));
      if (body === null) throw new Error(`GET ${urlOf(name)} returned no content`);
      await pipeline(Readable.fromWeb(body as never), createWriteStream(file, { mode: 0o600 }));
    },
    remove: async (name) => {
      await call('DELETE', urlOf(name));
    },
    pathOf: () => undefined,
  };
}

interface CallOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

type Call = (method: string, place: string, options?: CallOptions) => Promise<Response>;

async function listKeys(call: Call, root: string, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  let token: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const query = {
      'list-type': '2',
      prefix,
      ...(token === undefined ? {} : { 'continuation-token': token }),
    };
    const text = await (await call('GET', root, { query })).text();
    keys.push(...readElements(text, 'Key'));
    [token] = readElements(text, 'NextContinuationToken');
    if (token === undefined) return keys;
  }
  throw new Error(`${root} has too many objects below ${prefix}; give the backups a prefix of their own`);
}

/** The store compares the digest, so that a damaged upload is refused. Returns the entity tag. */
async function putBytes(
  call: Call,
  url: string,
  body: Buffer,
  query: Readonly<Record<string, string>> = {},
): Promise<string> {
  const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
  const { headers: answer } = await call('PUT', url, { query, body, headers });
  return answer.get('etag') ?? '';
}

/** A multipart upload: the object exists only when all parts have arrived. A failed one is aborted, so that its parts cost nothing. */
async function putParts(
  call: Call,
  url: string,
  file: {
    readonly size: number;
    readonly partBytes: number;
    readonly readPart: (at: number) => Promise<Buffer>;
  },
): Promise<void> {
  const [uploadId] = readElements(
    await (await call('POST', url, { query: { uploads: '' } })).text(),
    'UploadId',
  );
  if (uploadId === undefined) throw new Error(`POST ${url}?uploads returned no UploadId`);
  try {
    const parts: string[] = [];
    for (let at = 0; at < file.size; at += file.partBytes) {
      const partNumber = String(parts.length + 1);
      const etag = await putBytes(call, url, await file.readPart(at), { partNumber, uploadId });
      parts.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>${etag}</ETag></Part>`);
    }
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const text = await (await call('POST', url, { query: { uploadId }, body })).text();
    // The status is 200 also when the store fails while it joins the parts.
    const [code] = readElements(text, 'Code');
    if (code !== undefined) throw new Error(`POST ${url} failed with ${code}`);
  } catch (error) {
    await call('DELETE', url, { query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}

/** The texts of all elements of a name. */
function readElements(xml: string, name: string): readonly string[] {
  const texts: string[] = [];
  let isInside = false;
  const parser = new Parser(
    {
      onopentag: (tag) => {
        if (tag !== name) return;
        isInside = true;
        texts.push('');
      },
      ontext: (text) => {
        if (isInside) texts.push((texts.pop() ?? '') + text);
      },
      onclosetag: (tag) => {
        if (tag === name) isInside = false;
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  return texts;
}
