// A program around a module that calls nothing in it: it links exactly when the module's dependencies are all declared.
int main() { return 0; }
