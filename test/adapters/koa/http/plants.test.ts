import { plantCases } from '../../../contract/http/plants.js';
import { runHttpContract, storageSuite } from '../http-suite.js';
import { sharedService } from '../support.js';

storageSuite('created plants', (start) => {
  runHttpContract(plantCases, sharedService(start));
});
