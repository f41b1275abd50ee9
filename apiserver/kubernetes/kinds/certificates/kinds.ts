import { kindsOf } from '../kind';
import { certificateSigningRequests } from './certificate-signing-requests';

export const certificates = kindsOf('certificates', {
  certificatesigningrequests: certificateSigningRequests,
});
