import { movesConversion } from './moves';

/** authorization/v1beta1: the requester's groups were called `group`. */
export const ACCESS_REVIEW = movesConversion([['spec.group', 'spec.groups']]);

/** node/v1alpha1 had a spec. */
export const RUNTIME_CLASS = movesConversion([
  ['spec.runtimeHandler', 'handler'],
  ['spec.overhead', 'overhead'],
  ['spec.scheduling', 'scheduling'],
]);
