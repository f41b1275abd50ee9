import { ANNOTATION } from '../../../../shared/names';
import type { Pod } from '../../../../shared/api/types/core-v1';
import { decodeObject } from '../../../../shared/schema/decode';
import { messageType } from '../../../../shared/schema/types';
import { validatePodAnnotationsUpdate } from './pod-annotations';

const MIRROR = ANNOTATION.mirrorPod;

function pod(annotations: Record<string, string>, spec: object = {}): Pod {
  return decodeObject(messageType('core/v1.Pod'), { metadata: { name: 'p', annotations }, spec }).object;
}

const getFields = (next: Pod, previous: Pod): string[] =>
  validatePodAnnotationsUpdate(next, previous).map(({ field, message }) => `${field}: ${message}`);

test('a pod that becomes a mirror pod is refused, and validated like a new pod', () => {
  expect(getFields(pod({ [MIRROR]: 'y' }), pod({}))).toEqual([
    `metadata.annotations[${MIRROR}]: Forbidden: may not add mirror pod annotation`,
    `metadata.annotations[${MIRROR}]: Invalid value: "y": must set spec.nodeName if mirror pod annotation is set`,
  ]);
  expect(getFields(pod({ [MIRROR]: 'y' }, { nodeName: 'n' }), pod({}))).toEqual([
    `metadata.annotations[${MIRROR}]: Forbidden: may not add mirror pod annotation`,
  ]);
});

test('annotations that stay, and those that mean nothing, may be written', () => {
  const mirror = { [MIRROR]: 'y', note: 'a' };
  expect(getFields(pod({ ...mirror, note: 'b' }, { nodeName: 'n' }), pod(mirror, { nodeName: 'n' }))).toEqual(
    [],
  );
});
