import { movesConversion } from './moves';

/** authorization/v1beta1 names the requester's groups `group`. */
export const ACCESS_REVIEW = movesConversion([['spec.group', 'spec.groups']]);

/** node/v1alpha1 has a spec. */
export const RUNTIME_CLASS = movesConversion([
  ['spec.runtimeHandler', 'handler'],
  ['spec.overhead', 'overhead'],
  ['spec.scheduling', 'scheduling'],
]);
