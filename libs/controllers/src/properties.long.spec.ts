import '../../../test/support/more-draws';
import './hostname/hostname-reconciler.property.spec';
import './mesh/mesh-generation.property.spec';
import './vip/vip-meshes.property.spec';
import './zone-reconcilers.property.spec';
