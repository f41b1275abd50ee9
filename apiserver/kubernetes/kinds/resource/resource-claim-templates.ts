import type { ResourceClaimTemplate } from '../../../../shared/api/types/resource-v1';
import { RESOURCE_CLAIM_TEMPLATE } from '../../../../shared/conversion/resource';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { validateTemplateMetadata } from '../pod-template/claim-template';
import { immutable } from '../rules/primitives';
import { validateDeviceClaim } from './device-claims';
import { SelectorValidator } from './device-selectors';

/** A template never changes, since claims that were made of it would differ from it. */
const resourceClaimTemplateRules: Pick<Strategy<ResourceClaimTemplate>, 'validate' | 'validateUpdate'> = {
  validate: ({ spec }, info) => [
    ...validateTemplateMetadata(spec.metadata, 'spec.metadata', 'cannot be set'),
    ...validateDeviceClaim(spec.spec.devices, 'spec.spec.devices', new SelectorValidator(info)),
  ],
  validateUpdate: (next, previous) => immutable(next.spec, previous.spec, 'spec'),
};

export const resourceClaimTemplates: Kind<ResourceClaimTemplate> = {
  strategy: {
    compat: { returnsDeletedObject: true },
    readsOtherVersion: RESOURCE_CLAIM_TEMPLATE,
    ...resourceClaimTemplateRules,
  },
  table: tableOf<ResourceClaimTemplate>([NAME, AGE]),
};
