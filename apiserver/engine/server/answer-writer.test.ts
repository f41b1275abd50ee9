import { EventEmitter } from 'node:events';
import { silentLog } from '../../../shared/log/log';
import { LENT_BYTES_MIN } from '../request/exchange';
import { newExchange } from '../request/testing/new-exchange';
import type { AnswerOwner } from './answer-writer';
import { writeAnswer } from './answer-writer';
import { createRequestMemory } from './held-bytes';

test('a write that Node reports as flushed after the connection closed releases its bytes once', async () => {
  const memory = createRequestMemory();
  const pieces: ((error?: Error | null) => void)[] = [];
  let isWritten: () => void = () => undefined;
  const written = new Promise<void>((resolve) => {
    isWritten = resolve;
  });
  const response = Object.assign(new EventEmitter(), {
    headersSent: false,
    destroyed: false,
    writeHead: () => undefined,
    flushHeaders: () => undefined,
    write: (_piece: Buffer, done: (error?: Error | null) => void) => {
      pieces.push(done);
      isWritten();
      return false;
    },
  });
  const owner = {
    response,
    exchange: newExchange({ user: { name: 'a', uid: '', groups: [], extra: {} } }),
    options: { log: silentLog, stallMsMax: 60_000, memory, counts: { slowReaders: 0 } },
    headSent: () => undefined,
    answerEnded: () => undefined,
    streamRefused: () => undefined,
  } as unknown as AnswerOwner;
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(LENT_BYTES_MIN);
    await Promise.resolve();
  }
  writeAnswer(owner, { code: 200, headers: {}, body: body() });
  await written;
  expect(memory.answers.total).toBe(LENT_BYTES_MIN);
  response.emit('close');
  expect(memory.answers.total).toBe(0);
  for (const done of pieces) done();
  expect(memory.answers.total).toBe(0);
});
