import type { Service } from '../../../../shared/api/types/core-v1';
import { normalizeChangedService, normalizeNewService } from '../service-allocation/service-spec';
import { label1035Name } from '../../../../shared/meta/name-rules';
import type { Strategy } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { withFeatures } from './service-features';
import { serviceRules } from './services-rules';

/** A Service: an address, and ports of nodes, that are its own. */
export const services: Strategy<Service> = {
  checksIdentityLast: true,
  statusCreates: true,
  returnsNoHeldObject: true,
  nameRule: label1035Name,
  ...serviceRules,
  reserves: 'service addresses',
  prepareForCreate: (object, { settings }) => normalizeNewService(withFeatures(object, settings)),
  prepareForUpdate: (next, previous, { settings }) =>
    normalizeChangedService(withFeatures(next, settings, previous), previous, {
      hasFamilies: isOn(settings, 'IPv6DualStack'),
    }),
};
