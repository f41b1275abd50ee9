import { GROUP } from '../../shared/names';
import { bindPod } from './core/bind-pod';
import {
  reviewAccess,
  reviewLocalAccess,
  reviewOwnAccess,
  reviewOwnRules,
} from './authorization/access-review';
import { componentStatuses } from './core/component-status';
import type { VirtualResource } from '../registry/operation';
import { reviewToken } from './authentication/token-review';

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
