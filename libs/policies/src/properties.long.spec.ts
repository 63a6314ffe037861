import '../../../test/support/more-draws';
import './reads/reads.property.spec';
import './table/effective-specs.property.spec';
import './table/policy-table.property.spec';
