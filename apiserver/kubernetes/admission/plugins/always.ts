import { USER } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { AdmissionPlugin } from '../plugin';
import { refusal } from '../refusal';

/** Lets everything pass. */
export const alwaysAdmit: AdmissionPlugin = { concerns: () => false };

/** Lets nothing pass but what the server itself needs; for tests of what a client does then. */
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
