import { KEY_USAGE_BIT } from './signed-certificate';

/** What the API calls the bits of a key usage. */
export const KEY_USAGES: ReadonlyMap<string, number> = new Map([
  ['signing', KEY_USAGE_BIT.digitalSignature],
  ['digital signature', KEY_USAGE_BIT.digitalSignature],
  ['content commitment', KEY_USAGE_BIT.contentCommitment],
  ['key encipherment', KEY_USAGE_BIT.keyEncipherment],
  ['data encipherment', KEY_USAGE_BIT.dataEncipherment],
  ['key agreement', KEY_USAGE_BIT.keyAgreement],
  ['cert sign', KEY_USAGE_BIT.certificateSign],
  ['crl sign', KEY_USAGE_BIT.crlSign],
  ['encipher only', KEY_USAGE_BIT.encipherOnly],
  ['decipher only', KEY_USAGE_BIT.decipherOnly],
]);

/** What the API calls the purposes of an extended key usage, by object identifier, in the order in which certificates list them. */
export const EXTENDED_USAGES: ReadonlyMap<string, string> = new Map([
  ['any', '2.5.29.37.0'],
  ['server auth', '1.3.6.1.5.5.7.3.1'],
  ['client auth', '1.3.6.1.5.5.7.3.2'],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
]);
