export { startControlPlane } from './control-plane';
