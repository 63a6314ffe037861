import '../../../../test/support/more-draws';
import './envoy-resources.property.spec';
