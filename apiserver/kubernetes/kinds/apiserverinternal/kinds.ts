import { kindsOf } from '../kind';
import { storageVersions } from './storage-versions';

export const apiserverinternal = kindsOf('apiserverinternal', { storageversions: storageVersions });
