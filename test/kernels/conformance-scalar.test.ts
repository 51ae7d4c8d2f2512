import { conforms } from './conforms.js';

conforms('scalar');
