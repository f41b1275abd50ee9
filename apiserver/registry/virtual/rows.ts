import { GROUP } from '../../../shared/names';
import { bindPod } from '../subresources/bind-pod';
import { reviewAccess, reviewLocalAccess, reviewOwnAccess, reviewOwnRules } from './access-review';
import { componentStatuses } from './component-status';
import type { VirtualResource } from './operation';
import { reviewToken } from './token-review';

/** The resources that are operations rather than stored objects, by group. */
export const VIRTUAL_RESOURCES: Readonly<Record<string, Readonly<Record<string, VirtualResource>>>> = {
  [GROUP.core]: {
    bindings: { create: bindPod },
    componentstatuses: componentStatuses,
  },
  [GROUP.authentication]: {
    tokenreviews: { create: reviewToken },
  },
  [GROUP.authorization]: {
    subjectaccessreviews: { create: reviewAccess, isAdmitted: false },
    localsubjectaccessreviews: { create: reviewLocalAccess, isAdmitted: false },
    selfsubjectaccessreviews: { create: reviewOwnAccess, isAdmitted: false },
    selfsubjectrulesreviews: { create: reviewOwnRules, isAdmitted: false },
  },
};
