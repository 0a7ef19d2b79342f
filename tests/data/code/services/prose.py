Dear all, this is no program but a letter that somebody saved under the wrong name;
please (do not run it: [it has brackets that never close, and "quotes
