import { getEventListeners } from 'node:events';

import { LightSignal } from './light-signal';
import { linkedAbort } from './linked-abort';

test('it aborts with its parent and its reason, also when the parent had aborted before', () => {
  const parent = new AbortController();
  const child = linkedAbort(parent.signal);
  const reason = new Error('stop');
  parent.abort(reason);
  expect(child.signal.reason).toBe(reason);
  expect(linkedAbort(parent.signal).signal.reason).toBe(reason);
});

test('of several parents of whatever kind the first that aborts counts', () => {
  const request = new LightSignal();
  const server = new AbortController();
  const child = linkedAbort(request, server.signal);
  const reason = new Error('the client is gone');
  request.abort(reason);
  server.abort(new Error('the server stops'));
  expect(child.signal.reason).toBe(reason);
  expect(linkedAbort(new LightSignal(), request, server.signal).signal.reason).toBe(reason);
});

test('its own abort leaves the parents alone, and unlinking removes every listener', () => {
  const parents = [new AbortController(), new AbortController()].map(({ signal }) => signal);
  const child = linkedAbort(...parents);
  child.abort(new Error('mine'));
  expect([child.signal.aborted, ...parents.map(({ aborted }) => aborted)]).toEqual([true, false, false]);
  child.unlink();
  for (const parent of parents) expect(getEventListeners(parent, 'abort')).toEqual([]);
});

test('any number of them may hang on one parent without a warning of a leak', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): number => warnings.push(warning);
  process.on('warning', onWarning);
  const { signal } = new AbortController();
  const links = Array.from({ length: 20 }, () => linkedAbort(signal));
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  process.off('warning', onWarning);
  for (const { unlink } of links) unlink();
  expect(warnings).toEqual([]);
});
