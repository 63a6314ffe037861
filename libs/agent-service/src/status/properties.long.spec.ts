import '../../../../test/support/more-draws';
import './applied-floor.property.spec';
import './proxy-reporter.property.spec';
