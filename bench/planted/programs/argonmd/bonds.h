#ifndef MD_BONDS_H
#define MD_BONDS_H

/* springs between some atoms */
struct bond {
	int a, b;
	float length;
	float tension;
	int stretched;
};

void bonds_create(void);
void bonds_apply(void);
void bonds_report(void);
void bonds_free(void);

#endif
