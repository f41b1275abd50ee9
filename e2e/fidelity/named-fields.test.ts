import { messageType } from '../../shared/schema/types';
import { namesField } from './named-fields';

test.each([
  ['spec.containers[0].image', true],
  ['metadata.labels[a.b/c]', true],
  ['metadata.annotations', true],
  ['spec.volumes[2]', true],
  ['spec.containers[0].picture', false],
  ['spec.nodeName.x', false],
  ['status.nothing', false],
])('%s of a pod: %s', (path, known) => {
  expect(namesField(messageType('core/v1.Pod'), path)).toBe(known);
});
