import * as fc from 'fast-check';

import { splitLines } from './lines';

async function* chunksOf(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let start = 0;
  for (const end of [...ends, bytes.length]) {
    await Promise.resolve();
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function linesOf(chunks: AsyncIterable<Buffer>, max = 1024): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of splitLines(chunks, max)) lines.push(line.toString('utf8'));
  return lines;
}

test('lines do not depend on chunk boundaries, also inside a character', async () => {
  const texts = fc.array(
    fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\n')),
  );
  await fc.assert(
    fc.asyncProperty(texts, fc.array(fc.nat()), async (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      expect(await linesOf(chunksOf(bytes, cuts), 1_000_000)).toEqual(lines);
    }),
    { numRuns: 200 },
  );
});

test('an unterminated last line counts, empty lines do not', async () => {
  expect(await linesOf(chunksOf(Buffer.from('a\n\nb'), []))).toEqual(['a', 'b']);
});

test('a line over the limit ends the stream, terminated or not', async () => {
  await expect(linesOf(chunksOf(Buffer.from('123456'), [2, 4]), 5)).rejects.toThrow(RangeError);
  await expect(linesOf(chunksOf(Buffer.from('123456\n'), [3]), 5)).rejects.toThrow(RangeError);
  expect(await linesOf(chunksOf(Buffer.from('12345\n12345\n'), [3]), 5)).toEqual(['12345', '12345']);
});
