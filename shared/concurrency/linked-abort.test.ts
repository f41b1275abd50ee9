import { getEventListeners } from 'node:events';

import { linkedAbort } from './linked-abort';

test('it aborts with its parent and its reason, also when the parent had aborted before', () => {
  const parent = new AbortController();
  const child = linkedAbort(parent.signal);
  const reason = new Error('stop');
  parent.abort(reason);
  expect(child.signal.reason).toBe(reason);
  expect(linkedAbort(parent.signal).signal.reason).toBe(reason);
});

test('its own abort leaves the parent alone, and unlinking leaves nothing behind', () => {
  const parent = new AbortController();
  const child = linkedAbort(parent.signal);
  child.abort(new Error('mine'));
  expect([child.signal.aborted, parent.signal.aborted]).toEqual([true, false]);
  child.unlink();
  expect(getEventListeners(parent.signal, 'abort')).toEqual([]);
});
