import { USER } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { AdmissionPlugin } from '../plugin';
import { refusal } from '../refusal';

/** Admits everything. */
export const alwaysAdmit: AdmissionPlugin = { concerns: () => false };

/** Refuses all writes except those of the server itself, for tests of clients. */
export const alwaysDeny: AdmissionPlugin = {
  concerns: () => true,
  mutate(attributes) {
    deny(attributes);
    return attributes.object;
  },
  validate: deny,
};

function deny(attributes: AdmissionAttributes): void {
  if (attributes.write.user.name === USER.apiServer) return;
  throw refusal(attributes, 'admission control is denying all modifications');
}
