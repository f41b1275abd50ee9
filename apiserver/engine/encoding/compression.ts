import { promisify } from 'node:util';
import type { Gzip } from 'node:zlib';
import { constants, createGzip, gzip } from 'node:zlib';
import type { Answer, Exchange } from '../request/exchange';
import { listElements } from '../request/header-values';

/** Smaller answers are not compressed. */
const GZIP_BYTES_MIN = 128 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** The fastest level: half of the savings of the best one, for a tenth of its time. */
const OPTIONS = { level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES };

const gzipBuffer = promisify<Buffer, typeof OPTIONS, Buffer>(gzip);

/**
 * Compresses an answer with gzip if the client accepts it and the answer is large or streamed. The thread pool of the
 * process does the work, not the event loop. Not for watches, whose frames must not wait for more.
 */
export function compressed(
  { headers, isCompressible = true }: Pick<Exchange, 'headers' | 'isCompressible'>,
  answer: Answer,
): Answer | Promise<Answer> {
  // No additional promise for uncompressed answers, which nearly all are.
  if (!isCompressible || !acceptsGzip(headers['accept-encoding'])) return answer;
  if (Buffer.isBuffer(answer.body) && answer.body.length < GZIP_BYTES_MIN) return answer;
  return gzippedAnswer(answer);
}

async function gzippedAnswer(answer: Answer): Promise<Answer> {
  return {
    ...answer,
    headers: { ...answer.headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' },
    body: Buffer.isBuffer(answer.body) ? await gzipBuffer(answer.body, OPTIONS) : gzipped(answer.body),
  };
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  if (header === undefined) return false;
  return listElements(String(header)).some((element) =>
    /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)[\d.]+\s*)?$/i.test(element),
  );
}

async function* gzipped(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const compressor = createGzip(OPTIONS);
  const source = body[Symbol.asyncIterator]();
  // The compressor passes an error of the source to the reader.
  feed(compressor, source).catch((error: unknown) => {
    compressor.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  try {
    for await (const chunk of compressor) yield chunk as Buffer;
  } finally {
    compressor.destroy();
    await source.return?.();
  }
}

/** Feeds the compressor with backpressure. */
async function feed(compressor: Gzip, source: AsyncIterator<Buffer>): Promise<void> {
  for (let step = await source.next(); step.done !== true; step = await source.next()) {
    await new Promise<void>((resolve, reject) => {
      compressor.write(step.value, (error) => {
        if (error === undefined || error === null) resolve();
        else reject(error);
      });
    });
  }
  compressor.end();
}
